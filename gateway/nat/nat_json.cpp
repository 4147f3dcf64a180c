#include "gateway/json.hpp"
#include "gateway/json_readers.hpp"
#include "gateway/nat/external_endpoints.hpp"

namespace natxy::gateway {
namespace {

using namespace plumbing;

constexpr auto kRate_per_s = integer<std::uint64_t>(1, 1'000'000'000);
constexpr auto kPorts = integer<std::uint32_t>(0, 65536);

const Names<NatKind> kKinds{{"nat44", NatKind::kNat44}, {"nat64", NatKind::kNat64}};
const Names<Replacement> kReplacements{{"refuse", Replacement::kRefuse},
                                       {"overwrite-oldest", Replacement::kOverwriteOldest}};
const Names<Dependence> kDependences{
    {"endpoint-independent", Dependence::kEndpointIndependent},
    {"address-and-port-dependent", Dependence::kAddressAndPortDependent}};
const Names<PortChoice> kPortChoices{{"preserve", PortChoice::kPreserve},
                                     {"increasing", PortChoice::kIncreasing},
                                     {"pseudorandom", PortChoice::kPseudorandom}};

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

PortRange read_port_range(const Value& value) {
  const auto ends = value.list(integer<std::uint16_t>(1, UINT16_MAX));
  if (ends.size() != 2 || ends[0] > ends[1]) {
    throw ConfigError(value.path(), "is not a range of ports (expected [first, last])");
  }
  return {.first = ends[0], .last = ends[1]};
}

std::uint32_t read_block_ports(Object& object, const PortRange& ports) {
  const auto size = object.read_or("block_ports", 0U, kPorts);
  if (!blocks_of(ports, size).empty()) return size;
  throw ConfigError(object.path_of("block_ports"),
                    "no block of " + std::to_string(size) +
                        " ports, aligned to its size, is in the range of ports (expected a smaller "
                        "block)");
}

std::optional<NewRate> read_new_rate(Object& object) {
  const auto depth = object.read_or("depth", NewRate{}.depth, kRate_per_s);
  const auto per_s = object.optional("new_per_s", kRate_per_s);
  return per_s ? std::optional(NewRate{.per_s = *per_s, .depth = depth}) : std::nullopt;
}

Work read_work(Object& object) {
  if (const auto frames = object.optional("frames", kRate_per_s)) {
    return {.per_s = object.read("per_s", kRate_per_s),
            .created = object.read_or("created", Work{}.created, kRate_per_s),
            .frames = *frames};
  }
  const Work work{.per_s = object.read("per_s", kRate_per_s),
                  .depth = object.read_or("depth", Work{}.depth, kRate_per_s),
                  .created = object.read_or("created", Work{}.created, kRate_per_s)};
  if (work.depth < work.created) {
    throw ConfigError(object.path_of("depth"), std::to_string(work.depth) +
                                                   " is too few for a packet that creates a "
                                                   "connection (expected " +
                                                   std::to_string(work.created) + " or more)");
  }
  return work;
}

void read_behaviour(Object& object, NatConfig& nat) {
  nat.mapping = object.read_or("mapping", nat.mapping, one_of(kDependences));
  nat.filtering = object.read_or("filtering", nat.mapping, one_of(kDependences));
  nat.port_choice = object.read_or("port_choice", nat.port_choice, one_of(kPortChoices));
  nat.replacement = object.read_or("replacement", nat.replacement, one_of(kReplacements));
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

}  // namespace

NatConfig read_nat(Object& object) {
  NatConfig nat;
  nat.kind = object.read("kind", one_of(kKinds));
  nat.inside = object.read_or("inside", nat.inside, read_side);
  nat.pool = object.read("pool", read_pool);
  nat.ports = object.read_or("ports", nat.ports, read_port_range);
  nat.block_ports = read_block_ports(object, nat.ports);
  nat.ports_per_host = object.read_or("ports_per_host", nat.ports_per_host, kPorts);
  if (nat.kind == NatKind::kNat64) nat.prefix = object.read("prefix", read_translation_prefix);
  nat.entries = object.read_or("entries", nat.entries, integer<std::uint32_t>(1, 1U << 27U));
  nat.new_rate = read_new_rate(object);
  nat.work = object.optional("work", read_work);
  nat.flush_ns = object.read_or("flush_ns", nat.flush_ns, kDuration_ns);
  nat.deletion_ns = object.read_or("deletion_ns", nat.deletion_ns, kDuration_ns);
  nat.timeout_ns = object.read_or("timeout_ns", nat.timeout_ns, kTimeout_ns);
  nat.seed = object.read_or("seed", nat.seed, kAny);
  read_behaviour(object, nat);
  return nat;
}

bool is_nat_fault(const Json& value) {
  if (!value.is_object() || !value.contains("kind") || !value["kind"].is_string()) return false;
  const auto kind = value["kind"].get<std::string>();
  return kind == "nat-collide" || kind == "nat-forget" || kind == "nat-change";
}

NatFault read_nat_fault(Object& object) {
  const auto& kind = object["kind"].text();
  if (kind == "nat-collide") return NatCollide{.every = object.read("every", kRate_per_s)};
  const auto connection = object.read("connection", kOrdinal);
  const auto after_ns = object.read("after_ns", kDuration_ns);
  if (kind == "nat-forget") return NatForget{.connection = connection, .after_ns = after_ns};
  return NatChange{.connection = connection, .after_ns = after_ns};
}

}  // namespace natxy::gateway
