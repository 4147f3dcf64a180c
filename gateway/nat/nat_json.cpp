#include "gateway/nat/nat_json.hpp"

#include <map>

#include "gateway/json_object.hpp"
#include "gateway/json_value.hpp"

namespace natxy::gateway {
namespace {

using nlohmann::json;

constexpr JsonObject::Range kEntries{1, 1U << 27U};
constexpr JsonObject::Range kRate_per_s{1, 1'000'000'000};
constexpr JsonObject::Range kAny{0, UINT64_MAX};

template <typename Value>
using Names = std::map<std::string, Value>;

const Names<NatKind> kKinds{{"nat44", NatKind::kNat44}, {"nat64", NatKind::kNat64}};
const Names<Replacement> kReplacements{{"refuse", Replacement::kRefuse},
                                       {"overwrite-oldest", Replacement::kOverwriteOldest}};
const Names<Dependence> kDependences{
    {"endpoint-independent", Dependence::kEndpointIndependent},
    {"address-and-port-dependent", Dependence::kAddressAndPortDependent}};
const Names<PortChoice> kPortChoices{{"preserve", PortChoice::kPreserve},
                                     {"increasing", PortChoice::kIncreasing},
                                     {"pseudorandom", PortChoice::kPseudorandom}};

template <typename Value>
Value named(JsonObject& object, const std::string& member, const Names<Value>& names) {
  const auto text = object.text(member);
  if (const auto found = names.find(text); found != names.end()) return found->second;
  std::string all;
  for (const auto& [name, value] : names) all += (all.empty() ? "" : " or ") + name;
  throw ConfigError(object.path_of(member) + ": \"" + text + "\" is unknown (expected " + all +
                    ")");
}

template <typename Value>
Value named_or(JsonObject& object, const std::string& member, Value otherwise,
               const Names<Value>& names) {
  return object.find(member) == nullptr ? otherwise : named(object, member, names);
}

std::vector<IpAddress> read_pool(JsonObject& object) {
  const auto path = object.path_of("pool");
  auto pool = read_list(object.require("pool"), path, read_address);
  if (pool.empty()) throw ConfigError(path + ": is empty (expected at least one IPv4 address)");
  for (const auto& address : pool) {
    if (address.is_ipv6) {
      throw ConfigError(path + ": " + to_text(address) +
                        " is an IPv6 address (expected IPv4 addresses)");
    }
  }
  return pool;
}

PortRange read_ports(JsonObject& object) {
  const auto* found = object.find("ports");
  if (found == nullptr) return {};
  const auto path = object.path_of("ports");
  const auto ends = read_list(*found, path, [](const json& port, const std::string& where) {
    return JsonObject::number_at(port, where, {1, UINT16_MAX});
  });
  if (ends.size() != 2 || ends[0] > ends[1]) {
    throw ConfigError(path + ": is not a range of ports (expected [first, last])");
  }
  return {.first = static_cast<std::uint16_t>(ends[0]),
          .last = static_cast<std::uint16_t>(ends[1])};
}

std::optional<NewRate> read_new_rate(JsonObject& object) {
  const auto depth = object.number_or("depth", 1, kRate_per_s);
  if (object.find("new_per_s") == nullptr) return std::nullopt;
  return NewRate{.per_s = object.number("new_per_s", kRate_per_s), .depth = depth};
}

void read_behaviour(JsonObject& object, NatConfig& nat) {
  nat.mapping = named_or(object, "mapping", nat.mapping, kDependences);
  nat.filtering = named_or(object, "filtering", nat.mapping, kDependences);
  nat.port_choice = named_or(object, "port_choice", nat.port_choice, kPortChoices);
  nat.replacement = named_or(object, "replacement", nat.replacement, kReplacements);
  if (nat.mapping == Dependence::kAddressAndPortDependent &&
      nat.filtering == Dependence::kEndpointIndependent) {
    throw ConfigError(object.path_of("filtering") +
                      ": endpoint-independent filtering needs endpoint-independent mapping, but "
                      "here connections share external endpoints (expected "
                      "address-and-port-dependent)");
  }
}

std::uint64_t read_connection(JsonObject& object) {
  return object.number("connection", kOrdinal);
}

Nanoseconds read_after(JsonObject& object) {
  return object.number("after_ns", kDuration_ns);
}

}  // namespace

NatConfig read_nat(const json& value) {
  JsonObject object(value, "nat");
  NatConfig nat;
  nat.kind = named(object, "kind", kKinds);
  if (const auto* inside = object.find("inside")) nat.inside = read_side(*inside, "nat.inside");
  nat.pool = read_pool(object);
  nat.ports = read_ports(object);
  if (nat.kind == NatKind::kNat64) {
    nat.prefix = read_translation_prefix(object.require("prefix"), "nat.prefix");
  }
  nat.entries = static_cast<std::uint32_t>(object.number_or("entries", nat.entries, kEntries));
  nat.new_rate = read_new_rate(object);
  nat.flush_ns = object.number_or("flush_ns", nat.flush_ns, kDuration_ns);
  nat.deletion_ns = object.number_or("deletion_ns", nat.deletion_ns, kDuration_ns);
  nat.timeout_ns = object.number_or("timeout_ns", nat.timeout_ns, kTimeout_ns);
  nat.seed = object.number_or("seed", 0, kAny);
  read_behaviour(object, nat);
  object.refuse_the_rest();
  return nat;
}

bool is_nat_fault(const json& value) {
  if (!value.is_object() || !value.contains("kind") || !value["kind"].is_string()) return false;
  const auto kind = value["kind"].get<std::string>();
  return kind == "nat-collide" || kind == "nat-forget" || kind == "nat-change";
}

NatFault read_nat_fault(const json& value, const std::string& path) {
  JsonObject object(value, path);
  const auto kind = object.text("kind");
  NatFault fault;
  if (kind == "nat-collide") {
    fault = NatCollide{.every = object.number("every", kRate_per_s)};
  } else if (kind == "nat-forget") {
    fault = NatForget{.connection = read_connection(object), .after_ns = read_after(object)};
  } else {
    fault = NatChange{.connection = read_connection(object), .after_ns = read_after(object)};
  }
  object.refuse_the_rest();
  return fault;
}

}  // namespace natxy::gateway
