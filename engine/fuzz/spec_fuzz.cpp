// Fuzzes the spec reader. It must survive any octets, and what it accepts must be within the limits
// that the engine's arithmetic relies on.
#include <cstdlib>
#include <string_view>

#include "spec/json.hpp"
#include "spec/rules.hpp"

namespace {

using namespace natxy::spec;

void check(bool holds) {
  if (!holds) std::abort();
}

void check_limits(const TrialSpec& spec) {
  check(duration_ns(spec) <= kMaxTrialNs);
  check(!spec.phases.empty() && spec.phases.size() <= kMaxPhases);
  for (const auto& phase : spec.phases) {
    check(!phase.streams.empty() && phase.streams.size() <= 2);
    for (const auto& stream : phase.streams) {
      check(total_frames(stream) > 0 && total_frames(stream) < kMaxFramesPerStream);
      check(stream.foreground.has_value() == (stream.mix.m > 0));
      check(stream.background.has_value() == (stream.mix.m < stream.mix.n));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    check_limits(parse_spec(text));
  } catch (const SpecError& error) {
    check(std::string_view(error.what()).find(": ") != std::string_view::npos);
  }
  try {
    (void)error_event({.id = 1, .kind = ErrorKind::kSpec, .message = std::string(text)});
    const auto request = parse_request(text);
    if (const auto* trial = std::get_if<TrialRequest>(&request)) check_limits(trial->spec);
  } catch (const RequestError&) {
    // The reader refused the input, as it should.
  }
  return 0;
}
