#include <functional>
#include <map>
#include <optional>

#include "gateway/json.hpp"
#include "gateway/json_readers.hpp"

namespace natxy::gateway {

using namespace plumbing;

namespace {

constexpr std::uint64_t kMost = 1'000'000'000;
constexpr auto kRate = integer<std::uint64_t>(1, kMost);
constexpr auto kFrames = integer<std::uint64_t>(1, kMost);

FaultKind read_reorder(Object& object) {
  Reorder reorder;
  reorder.every = object.read("every", integer<std::uint64_t>(2, kMost));
  reorder.by = object.read_or("by", reorder.by, integer<std::uint64_t>(1, reorder.every - 1));
  reorder.within_ns = object.read_or("within_ns", reorder.within_ns, kDuration_ns);
  return reorder;
}

Names<CorruptField> corrupt_fields() {
  Names<CorruptField> names;
  for (std::size_t i = 0; i < kCorruptFieldNames.size(); ++i) {
    names.emplace_back(kCorruptFieldNames[i], static_cast<CorruptField>(i));
  }
  return names;
}

FaultKind read_corrupt(Object& object) {
  static const auto kFields = corrupt_fields();
  return Corrupt{.every = object.read("every", kFrames),
                 .field = object.read("field", one_of(kFields)),
                 .fix_checksum = object.read_or("fix_checksum", true, boolean)};
}

FaultKind read_delay(Object& object) {
  Delay delay;
  const auto fixed = object.find("ns");
  const auto pattern = object.find("pattern_ns");
  const auto uniform = object.find("uniform_ns");
  if (fixed.has_value() + pattern.has_value() + uniform.has_value() != 1) {
    throw ConfigError(object.path_of("ns"),
                      "the delay is missing or given more than once (expected one of ns, "
                      "pattern_ns and uniform_ns)");
  }
  if (fixed) {
    delay.pattern_ns = {kDuration_ns(*fixed)};
  } else if (pattern) {
    delay.pattern_ns = pattern->list(kDuration_ns);
    if (delay.pattern_ns.empty()) {
      throw ConfigError(pattern->path(), "is empty (expected at least one delay)");
    }
  } else {
    const auto ends = uniform->list(kDuration_ns);
    if (ends.size() != 2 || ends[0] > ends[1]) {
      throw ConfigError(uniform->path(), "is not a range of delays (expected [least, most])");
    }
    delay.uniform_ns = {ends[0], ends[1]};
  }
  delay.seed = object.read_or("seed", delay.seed, kAny);
  return delay;
}

RateLimit read_rate_limit(Object& object) {
  return {.rate_fps = object.read("rate_fps", kRate),
          .depth = object.read_or("depth", RateLimit{}.depth, kFrames)};
}

DepartureSegment read_departure_segment(Object& object) {
  return {.frames = object.read("frames", kFrames), .rate_fps = object.read("rate_fps", kRate)};
}

std::vector<DepartureSegment> read_departures(Object& object) {
  const auto departures = object.find("departures");
  if (!departures) return {};
  auto segments = departures->list(read_departure_segment);
  if (segments.empty())
    throw ConfigError(departures->path(), "is empty (expected at least one segment)");
  return segments;
}

FaultKind read_buffer(Object& object) {
  return Buffer{.frames = object.read("frames", kFrames),
                .drain_fps = object.read("drain_fps", kRate),
                .depth = object.read_or("depth", Buffer{}.depth, integer<std::uint64_t>(0, kMost)),
                .departures = read_departures(object)};
}

// A shorter distance would keep the loop for too long after a silence.
constexpr auto kDistance_ns = integer<Nanoseconds>(10'000, 3'600'000'000'000);

std::variant<RateLimit, Recurring> read_sulk_cause(Object& object) {
  const auto periodic = object.find("every_ns");
  const auto exponential = object.find("exponential_ns");
  if (object.find("rate_fps").has_value() + periodic.has_value() + exponential.has_value() != 1) {
    throw ConfigError(object.path_of("rate_fps"),
                      "the cause is missing or given more than once (expected one of rate_fps, "
                      "every_ns and exponential_ns)");
  }
  if (periodic) return Recurring{.every_ns = kDistance_ns(*periodic)};
  if (!exponential) return read_rate_limit(object);
  return Recurring{.every_ns = kDistance_ns(*exponential),
                   .is_exponential = true,
                   .seed = object.read_or("seed", Recurring{}.seed, kAny)};
}

FaultKind read_sulk(Object& object) {
  return Sulk{.cause = read_sulk_cause(object),
              .for_ns = object.read("for_ns", kDuration_ns),
              .departures = read_departures(object)};
}

FaultKind read_loss(Object& object) {
  const auto every = object.find("every");
  const auto share = object.find("share_ppm");
  if (every.has_value() == share.has_value()) {
    throw ConfigError(object.path_of("every"),
                      "the loss is missing or given twice (expected one of every and share_ppm)");
  }
  if (every) return Loss{.every = kFrames(*every)};
  return Loss{.share_ppm = integer<std::uint64_t>(1, 1'000'000)(*share),
              .seed = object.read_or("seed", Loss{}.seed, kAny)};
}

using FaultReader = std::function<FaultKind(Object&)>;

const std::map<std::string, FaultReader>& fault_readers() {
  static const std::map<std::string, FaultReader> kReaders{
      {"rate_limit", read_rate_limit},
      {"loss", read_loss},
      {"duplicate", [](Object& o) { return Duplicate{.every = o.read("every", kFrames)}; }},
      {"reorder", read_reorder},
      {"corrupt", read_corrupt},
      {"delay", read_delay},
      {"buffer", read_buffer},
      {"sulk", read_sulk}};
  return kReaders;
}

std::optional<Direction> read_direction(Object& object) {
  static const Names<std::optional<Direction>> kNames{
      {"forward", Direction::kForward}, {"reverse", Direction::kReverse}, {"both", std::nullopt}};
  return object.read_or("direction", std::optional<Direction>{}, one_of(kNames));
}

}  // namespace

Fault read_fault(Object& object) {
  const auto kind = object["kind"];
  const auto reader = fault_readers().find(kind.text());
  if (reader == fault_readers().end()) {
    kind.refuse(
        "is unknown (expected one of buffer, corrupt, delay, duplicate, loss, rate_limit, reorder, "
        "sulk, nat-collide, nat-forget, nat-change)");
  }
  return {.direction = read_direction(object), .kind = reader->second(object)};
}

}  // namespace natxy::gateway
