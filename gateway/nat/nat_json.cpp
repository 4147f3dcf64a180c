#include "gateway/nat/nat_json.hpp"

#include "gateway/json.hpp"
#include "gateway/json_value.hpp"
#include "gateway/nat/external_endpoints.hpp"

namespace natxy::gateway {
namespace {

using plumbing::Json;
using plumbing::Names;
using plumbing::Object;
using plumbing::Value;

constexpr Range kEntries{1, 1U << 27U};
constexpr Range kRate_per_s{1, 1'000'000'000};
constexpr Range kPorts{0, 65536};

const Names<NatKind> kKinds{{"nat44", NatKind::kNat44}, {"nat64", NatKind::kNat64}};
const Names<Replacement> kReplacements{{"refuse", Replacement::kRefuse},
                                       {"overwrite-oldest", Replacement::kOverwriteOldest}};
const Names<Dependence> kDependences{
    {"endpoint-independent", Dependence::kEndpointIndependent},
    {"address-and-port-dependent", Dependence::kAddressAndPortDependent}};
const Names<PortChoice> kPortChoices{{"preserve", PortChoice::kPreserve},
                                     {"increasing", PortChoice::kIncreasing},
                                     {"pseudorandom", PortChoice::kPseudorandom}};

template <typename Enum>
Enum named_or(Object& object, const std::string& member, Enum otherwise, const Names<Enum>& names) {
  const auto found = object.find(member);
  return found ? found->one_of(names) : otherwise;
}

std::vector<IpAddress> read_pool(const Value& value) {
  auto pool = value.list(read_address);
  if (pool.empty())
    throw ConfigError(value.path(), "is empty (expected at least one IPv4 address)");
  for (const auto& address : pool) {
    if (address.is_ipv6) {
      throw ConfigError(value.path(),
                        to_text(address) + " is an IPv6 address (expected IPv4 addresses)");
    }
  }
  return pool;
}

PortRange read_ports(const Value& value) {
  const auto ends =
      value.list([](const Value& port) { return port.integer<std::uint16_t>(1, UINT16_MAX); });
  if (ends.size() != 2 || ends[0] > ends[1]) {
    throw ConfigError(value.path(), "is not a range of ports (expected [first, last])");
  }
  return {.first = ends[0], .last = ends[1]};
}

// Returns a number of ports; 0 if it is not given.
std::uint32_t read_count(Object& object, const std::string& member) {
  return static_cast<std::uint32_t>(number_or(object, member, 0, kPorts));
}

std::uint32_t read_block_ports(Object& object, const PortRange& ports) {
  const auto size = read_count(object, "block_ports");
  if (!blocks_of(ports, size).empty()) return size;
  throw ConfigError(object.path_of("block_ports"),
                    "no block of " + std::to_string(size) +
                        " ports, aligned to its size, is in the range of ports (expected a smaller "
                        "block)");
}

std::optional<NewRate> read_new_rate(Object& object) {
  const auto depth = number_or(object, "depth", 1, kRate_per_s);
  if (!object.find("new_per_s")) return std::nullopt;
  return NewRate{.per_s = number(object, "new_per_s", kRate_per_s), .depth = depth};
}

Work read_work(const Value& value) {
  Object object(value);
  const Work work{.per_s = number(object, "per_s", kRate_per_s),
                  .depth = number_or(object, "depth", 1, kRate_per_s),
                  .created = number_or(object, "created", 1, kRate_per_s)};
  if (work.depth < work.created) {
    throw ConfigError(object.path_of("depth"), std::to_string(work.depth) +
                                                   " is too few for a packet that creates a "
                                                   "connection (expected " +
                                                   std::to_string(work.created) + " or more)");
  }
  object.close();
  return work;
}

void read_behaviour(Object& object, NatConfig& nat) {
  nat.mapping = named_or(object, "mapping", nat.mapping, kDependences);
  nat.filtering = named_or(object, "filtering", nat.mapping, kDependences);
  nat.port_choice = named_or(object, "port_choice", nat.port_choice, kPortChoices);
  nat.replacement = named_or(object, "replacement", nat.replacement, kReplacements);
  if (nat.mapping == Dependence::kAddressAndPortDependent &&
      nat.filtering == Dependence::kEndpointIndependent) {
    throw ConfigError(object.path_of("filtering"),
                      "endpoint-independent filtering needs endpoint-independent mapping, but "
                      "here connections share external endpoints (expected "
                      "address-and-port-dependent)");
  }
  if (nat.mapping == Dependence::kEndpointIndependent) return;
  if (nat.block_ports == 0 && nat.ports_per_host == 0) return;
  throw ConfigError(object.path_of(nat.block_ports > 0 ? "block_ports" : "ports_per_host"),
                    "needs endpoint-independent mapping (RFC 6888 REQ-1), because other external "
                    "ports are shared (expected 0)");
}

std::uint64_t read_connection(Object& object) {
  return number(object, "connection", kOrdinal);
}

Nanoseconds read_after(Object& object) {
  return number(object, "after_ns", kDuration_ns);
}

}  // namespace

NatConfig read_nat(const Value& value) {
  Object object(value);
  NatConfig nat;
  nat.kind = object["kind"].one_of(kKinds);
  if (const auto inside = object.find("inside")) nat.inside = read_side(*inside);
  nat.pool = read_pool(object["pool"]);
  if (const auto ports = object.find("ports")) nat.ports = read_ports(*ports);
  nat.block_ports = read_block_ports(object, nat.ports);
  nat.ports_per_host = read_count(object, "ports_per_host");
  if (nat.kind == NatKind::kNat64) nat.prefix = read_translation_prefix(object["prefix"]);
  nat.entries = static_cast<std::uint32_t>(number_or(object, "entries", nat.entries, kEntries));
  nat.new_rate = read_new_rate(object);
  if (const auto work = object.find("work")) nat.work = read_work(*work);
  nat.flush_ns = number_or(object, "flush_ns", nat.flush_ns, kDuration_ns);
  nat.deletion_ns = number_or(object, "deletion_ns", nat.deletion_ns, kDuration_ns);
  nat.timeout_ns = number_or(object, "timeout_ns", nat.timeout_ns, kTimeout_ns);
  nat.seed = number_or(object, "seed", 0, kAny);
  read_behaviour(object, nat);
  object.close();
  return nat;
}

bool is_nat_fault(const Json& value) {
  if (!value.is_object() || !value.contains("kind") || !value["kind"].is_string()) return false;
  const auto kind = value["kind"].get<std::string>();
  return kind == "nat-collide" || kind == "nat-forget" || kind == "nat-change";
}

NatFault read_nat_fault(const Value& value) {
  Object object(value);
  const auto& kind = object["kind"].text();
  NatFault fault;
  if (kind == "nat-collide") {
    fault = NatCollide{.every = number(object, "every", kRate_per_s)};
  } else if (kind == "nat-forget") {
    fault = NatForget{.connection = read_connection(object), .after_ns = read_after(object)};
  } else {
    fault = NatChange{.connection = read_connection(object), .after_ns = read_after(object)};
  }
  object.close();
  return fault;
}

}  // namespace natxy::gateway
