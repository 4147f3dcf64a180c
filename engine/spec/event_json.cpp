#include <optional>

#include "plumbing/json_value.hpp"
#include "spec/json.hpp"
#include "spec/names.hpp"

// Writes an absent value as null.
template <typename T>
struct nlohmann::adl_serializer<std::optional<T>> {
  static void to_json(json& json, const std::optional<T>& value) {
    json = value ? nlohmann::json(*value) : nlohmann::json();
  }
};

namespace natxy::spec {

using plumbing::Json;

namespace {

template <Listed Struct>
void put_members(Json& json, const Struct& value) {
  value.each_member(
      [&json](std::string_view name, const auto& member) { json[std::string(name)] = member; });
}

template <Listed Struct>
Json as_array(const Struct& value) {
  Json json;
  value.each_member([&json](auto, const auto& member) { json.push_back(member); });
  return json;
}

// Returns an object that has a value for each direction.
template <typename T>
Json by_direction(const std::array<T, 2>& values) {
  Json json;
  for (const auto& [name, direction] : kDirections) {
    json[name] = values[static_cast<std::size_t>(direction)];
  }
  return json;
}

}  // namespace

// An enumerator is written as its name, and a struct as an object of the members that it lists.
// What differs follows, from the inside out.
template <Named Enum>
void to_json(Json& json, const Enum& value) {
  json = name_of(names_of(value), value);
}

template <Listed Struct>
void to_json(Json& json, const Struct& value) {
  put_members(json, value);
}

void to_json(Json& json, const DistributionBucket& value) {
  json = as_array(value);
}

void to_json(Json& json, const Misdelivered& value) {
  put_members(json, value);
  json["total"] = value.total();
}

void to_json(Json& json, const ConnectionCounters& value) {
  put_members(json, value);
  json["new"] = value.stored;
}

void to_json(Json& json, const KindCounters& value) {
  put_members<FrameCounters>(json, value);
  put_members(json, value);
}

void to_json(Json& json, const Pause& value) {
  json = as_array(value);
}

void to_json(Json& json, const StreamResult& value) {
  put_members<SenderCounters>(json, value);
  put_members<ReceiverCounters>(json, value);
  put_members(json, value);
  for (const auto& [name, kind] : kKinds) {
    json["kinds"][name] = value.kinds[static_cast<std::size_t>(kind)];
  }
}

void to_json(Json& json, const IcmpErrorCount& value) {
  put_members(json, value);
  json["ip_version"] = static_cast<int>(value.ip_version);
  json["mtu"] = value.mtu == 0 ? Json() : Json(value.mtu);
  json["example"] = value.example_hex;
}

void to_json(Json& json, const PortResult& value) {
  put_members(json, value);
  put_members(json, value.counters);
  json["clock_error_ns"] = value.clock.own ? Json(value.clock.error_ns) : Json();
  json["unstamped"] = value.clock.unstamped;
  json["implausible_stamps"] = value.clock.implausible;
  json["icmp_errors"] = value.icmp.listed;
  json["icmp_errors_unlisted"] = value.icmp.unlisted;
  json["icmp_errors_of_others"] = value.icmp.of_others;
}

void to_json(Json& json, const PortInfo& value) {
  put_members(json, value);
  json["interface"] = value.interface.empty() ? Json() : Json(value.interface);
}

void to_json(Json& json, const Hello& value) {
  put_members(json, value);
  json["protocol"] = kProtocol;
  json["workers"] = Json::array();
  for (const int cpu : value.worker_cpus) json["workers"].push_back({{"cpu", cpu}});
}

void to_json(Json& json, const Progress& value) {
  put_members(json, value);
  json["sent"] = by_direction(value.sent);
  json["received"] = by_direction(value.received);
}

void to_json(Json& json, const ErrorEvent& value) {
  put_members(json, value);
  if (value.id) json["id"] = *value.id;
  for (const auto& [name, side] : kSides) {
    for (const auto& sort : value.icmp[static_cast<std::size_t>(side)]) {
      json["icmp_errors"].push_back({{"side", name}, {"error", sort}});
    }
  }
}

namespace {

// Returns an event as one line. Replaces invalid UTF-8, which names from outside (an interface, the
// kernel, a wrong request) may contain.
std::string line(const char* event, Json json) {
  json["event"] = event;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string hello_event(const Hello& hello) {
  return line("hello", hello);
}

std::string progress_event(std::uint64_t id, const Progress& progress) {
  Json json = progress;
  json["id"] = id;
  return line("progress", std::move(json));
}

std::string result_event(std::uint64_t id, const TrialResult& result) {
  return line("result", {{"id", id}, {"result", result}});
}

std::string error_event(const ErrorEvent& error) {
  return line("error", error);
}

}  // namespace natxy::spec
