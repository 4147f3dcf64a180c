// What the gateway is and what it does wrong (docs/reference/gateway.md has the names in JSON).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <variant>
#include <vector>

#include "gateway/address.hpp"
#include "gateway/address_map.hpp"
#include "gateway/nat/nat_config.hpp"
#include "gateway/side.hpp"

namespace natxy::gateway {

struct RateLimit {
  std::uint64_t rate_fps = 0;
  std::uint64_t depth = 1;  // frames that the full bucket lets pass at once
};

struct Loss {
  std::uint64_t every = 0;
};

struct Duplicate {
  std::uint64_t every = 0;
};

struct Reorder {
  std::uint64_t every = 0;
  std::uint64_t by = 1;  // less than every: one frame is held at a time
  Nanoseconds within_ns = 20'000'000;
};

enum class CorruptField : std::uint8_t {
  kSourceAddress,
  kDestinationAddress,
  kSourcePort,
  kDestinationPort,
  kHopLimit,
  kPayload,
  kUdpChecksum,
  kIpChecksum,
  kLength,
  kUdpLength,
  kNumber,
  kNoUdpChecksum  // both octets become 0, which over IPv4 says that there is none
};

inline constexpr std::array<const char*, 12> kCorruptFieldNames{
    "source_address", "destination_address", "source_port", "destination_port", "hop_limit",
    "payload",        "udp_checksum",        "ip_checksum", "length",           "udp_length",
    "number",         "no_udp_checksum"};

struct Corrupt {
  std::uint64_t every = 0;
  CorruptField field = CorruptField::kPayload;
  bool fix_checksum = true;
};

// One of the three: the same for all, one after the other, or pseudorandom in [first, second].
struct Delay {
  std::vector<Nanoseconds> pattern_ns;  // one member: the same for all
  std::optional<std::array<Nanoseconds, 2>> uniform_ns;
  std::uint64_t seed = 0;
};

// What the tester sends: so many frames at that rate, then the next segment.
struct DepartureSegment {
  std::uint64_t frames = 0;
  std::uint64_t rate_fps = 0;
};

struct Buffer {
  std::uint64_t frames = 0;
  std::uint64_t drain_fps = 0;
  std::vector<DepartureSegment> departures;  // none: frames come when they come
};

// Overloaded whenever a frame finds no token in a bucket, and for a time after that it drops all.
struct Sulk {
  std::uint64_t rate_fps = 0;
  std::uint64_t depth = 1;
  Nanoseconds for_ns = 0;
  std::vector<DepartureSegment> departures;
};

using FaultKind = std::variant<RateLimit, Loss, Duplicate, Reorder, Corrupt, Delay, Buffer, Sulk>;

struct Fault {
  std::optional<Direction> direction;  // absent: both, each with a state of its own
  FaultKind kind;

  [[nodiscard]] bool applies_to(Direction other) const { return !direction || *direction == other; }
};

struct SideConfig {
  std::vector<IpAddress> addresses;
  std::unordered_map<IpAddress, Mac, IpAddressHash> neighbours;
};

struct Route {
  Prefix prefix;
  Side side = Side::kLeft;
  std::optional<IpAddress> via;  // absent: the destination is on the link
};

struct Translation {
  std::vector<ExplicitMapping> mappings;
  std::optional<Prefix> prefix;
};

struct Config {
  std::array<SideConfig, 2> sides;  // by Side
  std::vector<Route> routes;
  std::optional<Translation> translation;
  std::optional<NatConfig> nat;
  std::vector<Fault> faults;
  Nanoseconds idle_ns = 0;
};

}  // namespace natxy::gateway
