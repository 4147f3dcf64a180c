#include <utility>

#include "plumbing/json_value.hpp"
#include "spec/json.hpp"
#include "spec/json_readers.hpp"
#include "spec/names.hpp"
#include "spec/spec_json.hpp"

namespace natxy::spec {
namespace {

using namespace plumbing;

std::optional<std::uint64_t> id_of(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto id = json.find("id");
  if (id == json.end() || !id->is_number_unsigned()) return std::nullopt;
  return id->get<std::uint64_t>();
}

enum class Verb : std::uint8_t { kTrial, kCancel, kQuit };
const Names<Verb> kVerbs = {
    {"trial", Verb::kTrial}, {"cancel", Verb::kCancel}, {"quit", Verb::kQuit}};

Request simple_request(const Json& json) {
  if (!json.is_object())
    throw SpecError("line", shown(json) + " is not an object (expected {...})");
  return Value(json, "").read([](Object& object) -> Request {
    const auto verb = object.read("request", one_of(kVerbs));
    if (verb == Verb::kCancel) return CancelRequest{};
    if (verb == Verb::kQuit) return QuitRequest{};
    TrialRequest trial{.id = object.read("id", kAnyNumber), .spec = {}};
    (void)object["spec"];  // parse_request() reads it
    return trial;
  });
}

}  // namespace

Request parse_request(std::string_view text) {
  const auto json = parse_json(text);
  if (json.is_discarded()) {
    throw RequestError(std::nullopt, ErrorKind::kRequest,
                       "line: is not JSON (expected one request per line)");
  }
  const auto id = id_of(json);
  auto kind = ErrorKind::kRequest;
  try {
    auto request = simple_request(json);
    kind = ErrorKind::kSpec;
    if (auto* trial = std::get_if<TrialRequest>(&request)) trial->spec = read_spec(json["spec"]);
    return request;
  } catch (const SpecError& error) {
    throw RequestError(id, kind, error.what());
  }
}

}  // namespace natxy::spec
