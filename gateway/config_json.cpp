#include <algorithm>
#include <array>
#include <optional>

#include "gateway/json.hpp"
#include "gateway/json_readers.hpp"

namespace natxy::gateway {

using plumbing::Names;
using plumbing::Value;

namespace {

Prefix read_prefix_of(const Value& value, bool is_ipv6) {
  const auto prefix = read_prefix(value);
  if (prefix.address.is_ipv6 == is_ipv6) return prefix;
  throw ConfigError(value.path(),
                    std::string("the prefix is of the other IP version (expected an ") +
                        (is_ipv6 ? "IPv6" : "IPv4") + " prefix)");
}

}  // namespace

IpAddress read_address(const Value& value) {
  if (const auto address = parse_address(value.text())) return *address;
  value.refuse("is not an IP address (expected an address such as 198.18.0.1 or 2001:2::1)");
}

Prefix read_prefix(const Value& value) {
  const auto prefix = parse_prefix(value.text());
  if (!prefix) value.refuse("is not a prefix (expected a prefix such as 198.18.0.0/16)");
  if (prefix->has_host_bits()) value.refuse("has bits set behind the prefix (expected 0)");
  return *prefix;
}

Prefix read_ipv4_prefix(const Value& value) {
  return read_prefix_of(value, false);
}

Prefix read_ipv6_prefix(const Value& value) {
  return read_prefix_of(value, true);
}

Side read_side(const Value& value) {
  static const Names<Side> kNames{{"left", Side::kLeft}, {"right", Side::kRight}};
  return value.one_of(kNames);
}

Prefix read_translation_prefix(const Value& value) {
  constexpr std::array kLengths{32U, 40U, 48U, 56U, 64U, 96U};
  const auto prefix = read_ipv6_prefix(value);
  if (std::ranges::find(kLengths, prefix.length) == kLengths.end()) {
    throw ConfigError(value.path(), "the prefix has a length of " + std::to_string(prefix.length) +
                                        " (expected 32, 40, 48, 56, 64 or 96; RFC 6052, 2.2)");
  }
  if ((prefix.address.value >> 56U & 0xffU) != 0) {
    throw ConfigError(value.path(), "bits 64 to 71 are not 0 (expected 0; RFC 6052, 2.2)");
  }
  return prefix;
}

namespace {

using namespace plumbing;

constexpr auto kRealtime_ns = integer<Nanoseconds>(0, 5'000'000'000);  // the kernel throttles more
constexpr auto kSleep_ns = integer<Nanoseconds>(0, 10'000'000);        // requests wait as long

Mac read_mac(const Value& value) {
  if (const auto mac = parse_mac(value.text())) return *mac;
  value.refuse("is not a MAC address (expected an address such as 02:00:00:00:00:01)");
}

auto read_neighbours(const Value& value) {
  decltype(SideConfig::neighbours) neighbours;
  Object object(value);
  for (const auto& item : value.json().items()) {
    const Json name = item.key();
    neighbours[read_address(Value(name, value.path()))] = object.read(item.key(), read_mac);
  }
  return neighbours;
}

VlanTag read_vlan(Object& object) {
  static const Names<std::uint16_t> kTypes{{"802.1Q", 0x8100}, {"802.1ad", 0x88a8}};
  return {.type = object.read("tpid", one_of(kTypes)),
          .id = object.read("id", integer<std::uint16_t>(1, 4094))};
}

// Returns a reader of a side, which has these values where members are missing.
auto side_reader(const SideConfig& usual) {
  return [&usual](Object& object) -> SideConfig {
    return {.addresses = object.read_or("addresses", usual.addresses, list_of(read_address)),
            .neighbours = object.read_or("neighbours", usual.neighbours, read_neighbours),
            .vlans = object.read_or("vlans", usual.vlans, list_of(0, kMaxVlanTags, read_vlan))};
  };
}

Route read_route(Object& object) {
  return {.prefix = object.read("prefix", read_prefix),
          .side = object.read("side", read_side),
          .via = object.optional("via", read_address)};
}

ExplicitMapping read_mapping(const Value& value) {
  const auto mapping = value.read([](Object& object) -> ExplicitMapping {
    return {.ipv4 = object.read("ipv4", read_ipv4_prefix),
            .ipv6 = object.read("ipv6", read_ipv6_prefix)};
  });
  if (mapping.ipv4.suffix_bits() <= mapping.ipv6.suffix_bits()) return mapping;
  throw ConfigError(value.path(),
                    "the IPv6 prefix leaves fewer bits than the IPv4 prefix (expected as many or "
                    "more; RFC 7757, 3.2)");
}

MappingRule read_rule(const Value& value) {
  const auto rule = value.read([](Object& object) -> MappingRule {
    return {.ipv6 = object.read("ipv6", read_ipv6_prefix),
            .ipv4 = object.read("ipv4", read_ipv4_prefix),
            .ea_bits = object.read("ea_bits", integer<unsigned>(0, 48)),
            .psid_offset =
                object.read_or("psid_offset", MappingRule{}.psid_offset, integer<unsigned>(0, 15))};
  });
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

AddressMap read_map(Object& object) {
  return {
      .mappings = object.read_or("explicit", std::vector<ExplicitMapping>{}, list_of(read_mapping)),
      .rules = object.read_or("rules", std::vector<MappingRule>{}, list_of(read_rule))};
}

AddressMap read_translation(Object& object) {
  auto map = read_map(object);
  map.prefix = object.optional("prefix", read_translation_prefix);
  return map;
}

SoftwireConfig read_softwires(Object& object) {
  SoftwireConfig softwires{.inside = object.read("inside", read_side),
                           .address = object.read("address", read_address),
                           .map = read_map(object),
                           .subscribers = object.optional("subscribers", read_ipv6_prefix)};
  if (!softwires.address.is_ipv6) {
    object["address"].refuse("is not an IPv6 address (expected an address such as 2001:2::1)");
  }
  return softwires;
}

// Reads the faults. Those of the stateful translation belong to its configuration, because they are
// not stages that frames pass.
void read_faults(const Value& value, Config& config) {
  (void)value.list([&](const Value& fault) {
    if (!is_nat_fault(fault.json())) {
      config.faults.push_back(fault.read(read_fault));
    } else if (config.nat) {
      config.nat->faults.push_back(fault.read(read_nat_fault));
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

Config read_members(Object& object) {
  auto config = default_config();
  for (const auto side : kSides) {
    auto& side_config = config.sides[index_of(side)];
    side_config = object.read_or(name_of(side), side_config, side_reader(side_config));
  }
  config.routes = object.read_or("routes", config.routes, list_of(read_route));
  config.translation = object.optional("translation", read_translation);
  config.softwires = object.optional("softwires", read_softwires);
  config.nat = object.optional("nat", read_nat);
  if (config.softwires && config.softwires->subscribers && !config.nat) {
    throw ConfigError("softwires.subscribers", "needs a stateful translation (expected \"nat\")");
  }
  if (const auto faults = object.find("faults")) read_faults(*faults, config);
  config.idle_ns = object.read_or("idle_ns", config.idle_ns, kAny);
  config.sleep_ns = object.read_or("sleep_ns", config.sleep_ns, kSleep_ns);
  return config;
}

// Uses the empty path for the root, so that error paths start with the member's name.
Config read_config(const Json& json) {
  return Value(json, "").read(read_members);
}

Request read_request(Object& object) {
  static const Names<Verb> kVerbs{{"configure", Verb::kConfigure},
                                  {"clear", Verb::kClear},
                                  {"mute", Verb::kMute},
                                  {"realtime", Verb::kRealtime},
                                  {"record", Verb::kRecord},
                                  {"flush", Verb::kFlush},
                                  {"count", Verb::kCount},
                                  {"set-timeout", Verb::kSetTimeout},
                                  {"forget", Verb::kForget},
                                  {"change", Verb::kChange},
                                  {"quit", Verb::kQuit}};
  Request request{.verb = object.read("request", one_of(kVerbs))};
  switch (request.verb) {
    case Verb::kConfigure: {
      const auto config = object["config"];
      if (!config.json().is_object()) config.refuse("is not an object (expected {...})");
      request.config = read_config(config.json());
      break;
    }
    case Verb::kMute:
      request.ns = object.read("for_ns", kDuration_ns);
      break;
    case Verb::kRealtime:
      request.ns = object.read("for_ns", kRealtime_ns);
      break;
    case Verb::kSetTimeout:
      request.ns = object.read("ns", kTimeout_ns);
      break;
    case Verb::kForget:
    case Verb::kChange:
      request.connection = object.read("connection", kOrdinal);
      break;
    default:
      break;
  }
  return request;
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
  return Value(json, "").read(read_request);
}

}  // namespace natxy::gateway
