#include <algorithm>
#include <functional>
#include <map>

#include "gateway/json.hpp"
#include "gateway/json_object.hpp"
#include "gateway/json_value.hpp"
#include "gateway/nat/nat_json.hpp"

namespace natxy::gateway {
namespace {

using nlohmann::json;

constexpr JsonObject::Range kRate{1, 1'000'000'000};
constexpr JsonObject::Range kFrames{1, 1'000'000'000};
constexpr JsonObject::Range kRealtime_ns{0, 5'000'000'000};  // the kernel throttles longer ones
constexpr JsonObject::Range kAny{0, UINT64_MAX};

Mac read_mac(const json& value, const std::string& path) {
  const auto mac = parse_mac(JsonObject::text_at(value, path));
  if (mac) return *mac;
  throw ConfigError(path +
                    ": is not a MAC address (expected an address such as 02:00:00:00:00:01)");
}

auto read_neighbours(const json& value, const std::string& path) {
  decltype(SideConfig::neighbours) neighbours;
  if (!value.is_object()) throw ConfigError(path + ": is not a JSON object (expected {...})");
  for (const auto& [name, mac] : value.items()) {
    auto where = path;
    where.append(".").append(name);
    neighbours[read_address(name, path)] = read_mac(mac, where);
  }
  return neighbours;
}

SideConfig read_side_config(const json& value, const std::string& path, SideConfig side) {
  JsonObject object(value, path);
  if (const auto* found = object.find("addresses")) {
    side.addresses = read_list(*found, object.path_of("addresses"), read_address);
  }
  if (const auto* found = object.find("neighbours")) {
    side.neighbours = read_neighbours(*found, object.path_of("neighbours"));
  }
  object.refuse_the_rest();
  return side;
}

Route read_route(const json& value, const std::string& path) {
  JsonObject object(value, path);
  Route route{.prefix = read_prefix(object.require("prefix"), path + ".prefix"),
              .side = read_side(object.require("side"), path + ".side"),
              .via = std::nullopt};
  if (const auto* via = object.find("via")) route.via = read_address(*via, path + ".via");
  object.refuse_the_rest();
  return route;
}

ExplicitMapping read_mapping(const json& value, const std::string& path) {
  JsonObject object(value, path);
  const ExplicitMapping mapping{.ipv4 = read_prefix(object.require("ipv4"), path + ".ipv4", false),
                                .ipv6 = read_prefix(object.require("ipv6"), path + ".ipv6", true)};
  object.refuse_the_rest();
  if (mapping.ipv4.suffix_bits() <= mapping.ipv6.suffix_bits()) return mapping;
  throw ConfigError(path +
                    ": the IPv6 prefix leaves fewer bits than the IPv4 prefix (expected as many "
                    "or more; RFC 7757, 3.2)");
}

Translation read_translation(const json& value) {
  JsonObject object(value, "translation");
  Translation translation;
  if (const auto* mappings = object.find("explicit")) {
    translation.mappings = read_list(*mappings, "translation.explicit", read_mapping);
  }
  if (const auto* prefix = object.find("prefix")) {
    translation.prefix = read_translation_prefix(*prefix, "translation.prefix");
  }
  object.refuse_the_rest();
  return translation;
}

FaultKind read_reorder(JsonObject& object) {
  Reorder reorder;
  reorder.every = object.number("every", {2, kFrames.max});
  reorder.by = object.number_or("by", 1, {1, reorder.every - 1});
  reorder.within_ns = object.number_or("within_ns", reorder.within_ns, kDuration_ns);
  return reorder;
}

FaultKind read_corrupt(JsonObject& object) {
  Corrupt corrupt;
  corrupt.every = object.number("every", kFrames);
  const auto name = object.text("field");
  const auto found = std::ranges::find(kCorruptFieldNames, name);
  if (found == kCorruptFieldNames.end()) {
    std::string names;
    for (const auto* known : kCorruptFieldNames)
      names += std::string(names.empty() ? "" : ", ") + known;
    throw ConfigError(object.path_of("field") + ": \"" + name + "\" is unknown (expected one of " +
                      names + ")");
  }
  corrupt.field = static_cast<CorruptField>(found - kCorruptFieldNames.begin());
  if (const auto* fix = object.find("fix_checksum")) {
    if (!fix->is_boolean()) {
      throw ConfigError(object.path_of("fix_checksum") +
                        ": is not a truth value (expected true or false)");
    }
    corrupt.fix_checksum = fix->get<bool>();
  }
  return corrupt;
}

std::vector<Nanoseconds> read_durations(const json& value, const std::string& path) {
  return read_list(value, path, [](const json& duration, const std::string& where) {
    return JsonObject::number_at(duration, where, kDuration_ns);
  });
}

FaultKind read_delay(JsonObject& object) {
  Delay delay;
  const auto* fixed = object.find("ns");
  const auto* pattern = object.find("pattern_ns");
  const auto* uniform = object.find("uniform_ns");
  if ((fixed != nullptr) + (pattern != nullptr) + (uniform != nullptr) != 1) {
    throw ConfigError(
        object.path_of("ns") +
        ": the delay is missing or given more than once (expected one of ns, pattern_ns and "
        "uniform_ns)");
  }
  if (fixed != nullptr) {
    delay.pattern_ns = {JsonObject::number_at(*fixed, object.path_of("ns"), kDuration_ns)};
  } else if (pattern != nullptr) {
    delay.pattern_ns = read_durations(*pattern, object.path_of("pattern_ns"));
    if (delay.pattern_ns.empty()) {
      throw ConfigError(object.path_of("pattern_ns") + ": is empty (expected at least one delay)");
    }
  } else {
    const auto ends = read_durations(*uniform, object.path_of("uniform_ns"));
    if (ends.size() != 2 || ends[0] > ends[1]) {
      throw ConfigError(object.path_of("uniform_ns") +
                        ": is not a range of delays (expected [least, most])");
    }
    delay.uniform_ns = {ends[0], ends[1]};
  }
  delay.seed = object.number_or("seed", 0, kAny);
  return delay;
}

FaultKind read_rate_limit(JsonObject& object) {
  return RateLimit{.rate_fps = object.number("rate_fps", kRate),
                   .depth = object.number_or("depth", 1, kFrames)};
}

DepartureSegment read_departure_segment(const json& value, const std::string& path) {
  JsonObject object(value, path);
  const DepartureSegment segment{.frames = object.number("frames", kFrames),
                                 .rate_fps = object.number("rate_fps", kRate)};
  object.refuse_the_rest();
  return segment;
}

std::vector<DepartureSegment> read_departures(JsonObject& object) {
  const auto* found = object.find("departures");
  if (found == nullptr) return {};
  const auto path = object.path_of("departures");
  auto segments = read_list(*found, path, read_departure_segment);
  if (segments.empty()) throw ConfigError(path + ": is empty (expected at least one segment)");
  return segments;
}

FaultKind read_buffer(JsonObject& object) {
  return Buffer{.frames = object.number("frames", kFrames),
                .drain_fps = object.number("drain_fps", kRate),
                .departures = read_departures(object)};
}

FaultKind read_sulk(JsonObject& object) {
  return Sulk{.rate_fps = object.number("rate_fps", kRate),
              .depth = object.number_or("depth", 1, kFrames),
              .for_ns = object.number("for_ns", kDuration_ns),
              .departures = read_departures(object)};
}

using FaultReader = std::function<FaultKind(JsonObject&)>;

const std::map<std::string, FaultReader>& fault_readers() {
  static const std::map<std::string, FaultReader> kReaders{
      {"rate_limit", read_rate_limit},
      {"loss", [](JsonObject& o) { return Loss{.every = o.number("every", kFrames)}; }},
      {"duplicate", [](JsonObject& o) { return Duplicate{.every = o.number("every", kFrames)}; }},
      {"reorder", read_reorder},
      {"corrupt", read_corrupt},
      {"delay", read_delay},
      {"buffer", read_buffer},
      {"sulk", read_sulk}};
  return kReaders;
}

std::optional<Direction> read_direction(JsonObject& object) {
  if (object.find("direction") == nullptr) return std::nullopt;
  const auto text = object.text("direction");
  if (text == "both") return std::nullopt;
  if (text == "forward") return Direction::kForward;
  if (text == "reverse") return Direction::kReverse;
  throw ConfigError(object.path_of("direction") + ": \"" + text +
                    "\" is unknown (expected forward, reverse or both)");
}

Fault read_fault(const json& value, const std::string& path) {
  JsonObject object(value, path);
  const auto kind = object.text("kind");
  const auto reader = fault_readers().find(kind);
  if (reader == fault_readers().end()) {
    throw ConfigError(path + ".kind: \"" + kind +
                      "\" is unknown (expected buffer, corrupt, delay, duplicate, loss, "
                      "rate_limit, reorder, sulk, nat-collide, nat-forget or nat-change)");
  }
  Fault fault{.direction = read_direction(object), .kind = reader->second(object)};
  object.refuse_the_rest();
  return fault;
}

// Reads the faults. Those of the stateful translation belong to its configuration, because they are
// not stages that frames pass.
void read_faults(const json& value, Config& config) {
  read_list(value, "faults", [&](const json& fault, const std::string& path) {
    if (!is_nat_fault(fault)) {
      config.faults.push_back(read_fault(fault, path));
    } else if (config.nat) {
      config.nat->faults.push_back(read_nat_fault(fault, path));
    } else {
      throw ConfigError(path +
                        ": there is no stateful translation (expected \"nat\" in the "
                        "configuration)");
    }
    return true;
  });
}

json parse(std::string_view text) {
  try {
    return json::parse(text);
  } catch (const json::exception&) {
    throw ConfigError("line: is not JSON (expected a JSON object)");
  }
}

Config read_config(const json& value, const std::string& path) {
  JsonObject object(value, path);
  auto config = default_config();
  for (const auto side : kSides) {
    auto& side_config = config.sides[index_of(side)];
    if (const auto* found = object.find(name_of(side))) {
      side_config = read_side_config(*found, name_of(side), std::move(side_config));
    }
  }
  if (const auto* found = object.find("routes")) {
    config.routes = read_list(*found, "routes", read_route);
  }
  if (const auto* found = object.find("translation")) {
    config.translation = read_translation(*found);
  }
  if (const auto* found = object.find("nat")) config.nat = read_nat(*found);
  if (const auto* found = object.find("faults")) read_faults(*found, config);
  config.idle_ns = object.number_or("idle_ns", 0, kAny);
  object.refuse_the_rest();
  return config;
}

std::optional<Request> read_request(const std::string& name, JsonObject& object) {
  if (name == "configure") return ConfigureRequest{read_config(object.require("config"), "config")};
  if (name == "clear") return ClearRequest{};
  if (name == "record") return RecordRequest{};
  if (name == "mute") return MuteRequest{.for_ns = object.number("for_ns", kDuration_ns)};
  if (name == "realtime") {
    return RealtimeRequest{.for_ns = object.number("for_ns", kRealtime_ns)};
  }
  if (name == "flush") return FlushRequest{};
  if (name == "count") return CountRequest{};
  if (name == "set-timeout") return SetTimeoutRequest{.ns = object.number("ns", kTimeout_ns)};
  if (name == "forget") return ForgetRequest{.connection = object.number("connection", kOrdinal)};
  if (name == "change") return ChangeRequest{.connection = object.number("connection", kOrdinal)};
  if (name == "quit") return QuitRequest{};
  return std::nullopt;
}

}  // namespace

Config default_config() {
  const auto ip = [](std::string_view text) { return parse_address(text).value(); };
  const auto route = [](std::string_view prefix, Side side) {
    return Route{.prefix = parse_prefix(prefix).value(), .side = side, .via = std::nullopt};
  };
  Config config;
  config.sides[index_of(Side::kLeft)].addresses = {ip("198.18.0.1"), ip("2001:2::1")};
  config.sides[index_of(Side::kRight)].addresses = {ip("198.19.0.1"), ip("2001:2:0:8000::1")};
  config.routes = {route("198.18.0.0/16", Side::kLeft), route("198.19.0.0/16", Side::kRight),
                   route("2001:2::/49", Side::kLeft), route("2001:2:0:8000::/49", Side::kRight)};
  return config;
}

Config parse_config(std::string_view text) {
  return read_config(parse(text), "");
}

Request parse_request(std::string_view line) {
  const auto value = parse(line);
  JsonObject object(value, "");
  const auto name = object.text("request");
  const auto request = read_request(name, object);
  if (!request) {
    throw ConfigError("request: \"" + name +
                      "\" is unknown (expected configure, clear, mute, realtime, record, flush, "
                      "count, set-timeout, forget, change or quit)");
  }
  object.refuse_the_rest();
  return *request;
}

}  // namespace natxy::gateway
