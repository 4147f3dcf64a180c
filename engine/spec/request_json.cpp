#include <limits>
#include <utility>

#include "plumbing/json_value.hpp"
#include "spec/json.hpp"
#include "spec/names.hpp"
#include "spec/spec_json.hpp"

namespace natxy::spec {
namespace {

using plumbing::Json;
using plumbing::Object;
using plumbing::parse_json;
using plumbing::shown;
using plumbing::Value;

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
  Object object(Value(json, ""));
  const auto verb = object["request"].one_of(kVerbs);
  if (verb != Verb::kTrial) {
    object.close();
    if (verb == Verb::kCancel) return CancelRequest{};
    return QuitRequest{};
  }
  TrialRequest trial;
  trial.id = object["id"].integer<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max());
  (void)object["spec"];
  object.close();
  return trial;
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
