#include <optional>

#include "gateway/faults/fault_json.hpp"
#include "gateway/json.hpp"
#include "gateway/json_value.hpp"
#include "gateway/nat/nat_json.hpp"

namespace natxy::gateway {
namespace {

using plumbing::Json;
using plumbing::Names;
using plumbing::Object;
using plumbing::Value;

constexpr Range kRealtime_ns{0, 5'000'000'000};  // the kernel throttles longer ones

Mac read_mac(const Value& value) {
  if (const auto mac = parse_mac(value.text())) return *mac;
  value.refuse("is not a MAC address (expected an address such as 02:00:00:00:00:01)");
}

auto read_neighbours(const Value& value) {
  decltype(SideConfig::neighbours) neighbours;
  Object object(value);
  for (const auto& item : value.json().items()) {
    const Json name = item.key();
    neighbours[read_address(Value(name, value.path()))] = read_mac(object[item.key()]);
  }
  return neighbours;
}

VlanTag read_vlan(const Value& value) {
  static const Names<std::uint16_t> kTypes{{"802.1Q", 0x8100}, {"802.1ad", 0x88a8}};
  Object object(value);
  const VlanTag tag{.type = object["tpid"].one_of(kTypes),
                    .id = object["id"].integer<std::uint16_t>(1, 4094)};
  object.close();
  return tag;
}

SideConfig read_side_config(const Value& value, SideConfig side) {
  Object object(value);
  if (const auto found = object.find("addresses")) side.addresses = found->list(read_address);
  if (const auto found = object.find("neighbours")) side.neighbours = read_neighbours(*found);
  if (const auto found = object.find("vlans")) side.vlans = found->list(0, kMaxVlanTags, read_vlan);
  object.close();
  return side;
}

Route read_route(const Value& value) {
  Object object(value);
  Route route{.prefix = read_prefix(object["prefix"]),
              .side = read_side(object["side"]),
              .via = object.optional("via", read_address)};
  object.close();
  return route;
}

ExplicitMapping read_mapping(const Value& value) {
  Object object(value);
  const ExplicitMapping mapping{.ipv4 = read_prefix(object["ipv4"], false),
                                .ipv6 = read_prefix(object["ipv6"], true)};
  object.close();
  if (mapping.ipv4.suffix_bits() <= mapping.ipv6.suffix_bits()) return mapping;
  throw ConfigError(value.path(),
                    "the IPv6 prefix leaves fewer bits than the IPv4 prefix (expected as many or "
                    "more; RFC 7757, 3.2)");
}

MappingRule read_rule(const Value& value) {
  Object object(value);
  MappingRule rule{.ipv6 = read_prefix(object["ipv6"], true),
                   .ipv4 = read_prefix(object["ipv4"], false),
                   .ea_bits = object["ea_bits"].integer<unsigned>(0, 48)};
  if (const auto found = object.find("psid_offset")) {
    rule.psid_offset = found->integer<unsigned>(0, 15);
  }
  object.close();
  const auto refuse = [&](const std::string& sentence) {
    throw ConfigError(value.path() + ".ea_bits", std::to_string(rule.ea_bits) + sentence);
  };
  if (rule.ea_bits < rule.ipv4.suffix_bits()) {
    refuse(" do not hold the IPv4 suffix (expected at least " +
           std::to_string(rule.ipv4.suffix_bits()) + ")");
  }
  if (rule.psid_offset + rule.psid_bits() > 16) {
    refuse(" leave a PSID that no port has room for (expected at most " +
           std::to_string(rule.ipv4.suffix_bits() + 16 - rule.psid_offset) + ")");
  }
  if (rule.ipv6.length + rule.ea_bits > 64) {
    refuse(" do not fit before bit 64 (expected at most " +
           std::to_string(64 - std::min(64U, rule.ipv6.length)) + ")");
  }
  return rule;
}

std::vector<ExplicitMapping> read_mappings(Object& object) {
  const auto found = object.find("explicit");
  return found ? found->list(read_mapping) : std::vector<ExplicitMapping>{};
}

std::vector<MappingRule> read_rules(Object& object) {
  const auto found = object.find("rules");
  return found ? found->list(read_rule) : std::vector<MappingRule>{};
}

Translation read_translation(const Value& value) {
  Object object(value);
  Translation translation{
      .mappings = read_mappings(object), .rules = read_rules(object), .prefix = {}};
  translation.prefix = object.optional("prefix", read_translation_prefix);
  object.close();
  return translation;
}

Prefix read_ipv6_prefix(const Value& value) {
  return read_prefix(value, true);
}

SoftwireConfig read_softwires(const Value& value) {
  Object object(value);
  SoftwireConfig softwires{.inside = read_side(object["inside"]),
                           .address = read_address(object["address"]),
                           .mappings = read_mappings(object),
                           .rules = read_rules(object),
                           .subscribers = object.optional("subscribers", read_ipv6_prefix)};
  if (!softwires.address.is_ipv6) {
    object["address"].refuse("is not an IPv6 address (expected an address such as 2001:2::1)");
  }
  object.close();
  return softwires;
}

// Reads the faults. Those of the stateful translation belong to its configuration, because they are
// not stages that frames pass.
void read_faults(const Value& value, Config& config) {
  (void)value.list([&](const Value& fault) {
    if (!is_nat_fault(fault.json())) {
      config.faults.push_back(read_fault(fault));
    } else if (config.nat) {
      config.nat->faults.push_back(read_nat_fault(fault));
    } else {
      throw ConfigError(fault.path(),
                        "there is no stateful translation (expected \"nat\" in the configuration)");
    }
    return true;
  });
}

Json parse(std::string_view text) {
  auto json = plumbing::parse_json(text);
  if (json.is_discarded()) throw ConfigError("line", "is not JSON (expected a JSON object)");
  if (json.is_object()) return json;
  throw ConfigError("line", plumbing::shown(json) + " is not an object (expected {...})");
}

// Uses the empty path for the root, so that error paths start with the member's name.
Config read_config(const Json& json) {
  Object object(Value(json, ""));
  auto config = default_config();
  for (const auto side : kSides) {
    auto& side_config = config.sides[index_of(side)];
    if (const auto found = object.find(name_of(side))) {
      side_config = read_side_config(*found, std::move(side_config));
    }
  }
  if (const auto found = object.find("routes")) config.routes = found->list(read_route);
  config.translation = object.optional("translation", read_translation);
  config.softwires = object.optional("softwires", read_softwires);
  config.nat = object.optional("nat", read_nat);
  if (config.softwires && config.softwires->subscribers && !config.nat) {
    throw ConfigError("softwires.subscribers", "needs a stateful translation (expected \"nat\")");
  }
  if (const auto found = object.find("faults")) read_faults(*found, config);
  config.idle_ns = number_or(object, "idle_ns", 0, kAny);
  object.close();
  return config;
}

std::optional<Request> read_request(const std::string& name, Object& object) {
  if (name == "configure") {
    const auto config = object["config"];
    if (!config.json().is_object()) config.refuse("is not an object (expected {...})");
    return ConfigureRequest{read_config(config.json())};
  }
  if (name == "clear") return ClearRequest{};
  if (name == "record") return RecordRequest{};
  if (name == "mute") return MuteRequest{.for_ns = number(object, "for_ns", kDuration_ns)};
  if (name == "realtime") {
    return RealtimeRequest{.for_ns = number(object, "for_ns", kRealtime_ns)};
  }
  if (name == "flush") return FlushRequest{};
  if (name == "count") return CountRequest{};
  if (name == "set-timeout") return SetTimeoutRequest{.ns = number(object, "ns", kTimeout_ns)};
  if (name == "forget") return ForgetRequest{.connection = number(object, "connection", kOrdinal)};
  if (name == "change") return ChangeRequest{.connection = number(object, "connection", kOrdinal)};
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
  const auto json = parse(text);
  return read_config(json);
}

Request parse_request(std::string_view line) {
  const auto json = parse(line);
  Object object(Value(json, ""));
  const auto name = object["request"];
  const auto request = read_request(name.text(), object);
  if (!request) {
    name.refuse(
        "is unknown (expected one of configure, clear, mute, realtime, record, flush, count, "
        "set-timeout, forget, change, quit)");
  }
  object.close();
  return *request;
}

}  // namespace natxy::gateway
