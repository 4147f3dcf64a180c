// The configuration of the stateful translation and of its faults (docs/reference/gateway.md), and
// its record.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "gateway/address.hpp"
#include "gateway/frame.hpp"
#include "gateway/octets.hpp"

namespace natxy::gateway {

enum class NatKind : std::uint8_t { kNat44, kNat64 };
// Kinds of mapping and filtering (RFC 4787, 4.1 and 5), without the address-dependent ones.
enum class Dependence : std::uint8_t { kEndpointIndependent, kAddressAndPortDependent };
enum class Replacement : std::uint8_t { kRefuse, kOverwriteOldest };
enum class PortChoice : std::uint8_t { kPreserve, kIncreasing, kPseudorandom };

struct PortRange {
  std::uint16_t first = 1024;
  std::uint16_t last = 65535;

  [[nodiscard]] std::uint32_t count() const { return last - first + 1U; }
  [[nodiscard]] bool contains(std::uint16_t port) const { return port >= first && port <= last; }
};

struct NewRate {
  std::uint64_t per_s = 0;
  std::uint64_t depth = 1;
};

// What the gateway can do, in packets of known connections; one that creates a connection counts as
// `created` of them.
struct Work {
  std::uint64_t per_s = 0;
  std::uint64_t depth = 1;
  std::uint64_t created = 1;
  std::uint64_t frames = 0;  // room of a queue in front of a server; 0: a token bucket, no queue
};

// Gives each k-th new connection the external endpoint of an earlier one to the same remote
// endpoint.
struct NatCollide {
  std::uint64_t every = 0;
};

// Forget or change the n-th connection that was created, this long after its creation.
struct NatForget {
  std::uint64_t connection = 0;
  Nanoseconds after_ns = 0;
};
struct NatChange {
  std::uint64_t connection = 0;
  Nanoseconds after_ns = 0;
};
using NatFault = std::variant<NatCollide, NatForget, NatChange>;

struct NatConfig {
  NatKind kind = NatKind::kNat44;
  Side inside = Side::kLeft;
  std::vector<IpAddress> pool;  // external addresses, IPv4
  PortRange ports;
  // Ports are given out in blocks of so many; 0: one by one.
  std::uint32_t block_ports = 0;
  std::uint32_t ports_per_host = 0;  // 0: no limit
  Prefix prefix;                     // for NAT64
  std::uint32_t entries = 65536;
  std::optional<NewRate> new_rate;
  std::optional<Work> work;
  Replacement replacement = Replacement::kRefuse;
  // The minimum time of a flush, and the time for each connection that it deletes.
  Nanoseconds flush_ns = 0;
  Nanoseconds deletion_ns = 0;
  Nanoseconds timeout_ns = 300'000'000'000;  // RFC 4787, 4.3: five minutes
  Dependence mapping = Dependence::kEndpointIndependent;
  Dependence filtering = Dependence::kEndpointIndependent;
  PortChoice port_choice = PortChoice::kPreserve;
  std::uint64_t seed = 0;
  std::vector<NatFault> faults;
};

// The record of the stateful translation.
struct NatRecord {
  std::uint64_t created = 0;
  std::uint64_t refused_full = 0;  // from here: new connections that were refused
  std::uint64_t refused_rate = 0;
  std::uint64_t refused_limit = 0;
  std::uint64_t refused_ports = 0;
  std::uint64_t overwritten = 0;
  std::uint64_t expired = 0;
  std::uint64_t flushed = 0;
  std::uint64_t collided = 0;  // from here: configured faults and requests that took effect
  std::uint64_t forgotten = 0;
  std::uint64_t changed = 0;
  std::uint64_t peak = 0;      // most connections at the same time
  std::uint64_t entries = 0;   // connections when the record was read
  std::uint64_t outbound = 0;  // packets translated
  std::uint64_t inbound = 0;
};

}  // namespace natxy::gateway
