// The configuration of the gateway and of its faults (see docs/reference/gateway.md for the JSON).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <variant>
#include <vector>

#include "gateway/address.hpp"
#include "gateway/address_map.hpp"
#include "gateway/frame.hpp"
#include "gateway/nat/nat_config.hpp"

namespace natxy::gateway {

struct RateLimit {
  std::uint64_t rate_fps = 0;
  std::uint64_t depth = 1;  // frames that a full bucket lets pass at once
};

// Loses every k-th frame, or a share of the frames by chance.
struct Loss {
  std::uint64_t every = 0;  // 0: by chance
  std::uint64_t share_ppm = 0;
  std::uint64_t seed = 0;
};

struct Duplicate {
  std::uint64_t every = 0;
};

struct Reorder {
  std::uint64_t every = 0;
  std::uint64_t by = 1;  // must be less than `every`, because one frame is held at a time
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
  kNoUdpChecksum,  // sets the checksum to 0, which means "none" over IPv4
  kTrafficClass,
  kExtensionHeader,  // the last octet of the first one
  kVlan,             // the VLAN ID of the inner tag
  kOuterSource,      // of the IPv6 header of a softwire
  kOuterDestination,
  kOuterHopLimit,
  kOuterFragmented,  // adds a Fragment Header to the packet of a softwire
  kSoftwire,         // the softwire of another subscriber
  kPortSet,          // the port of another subscriber with the same address
  kFragmented,       // makes the packet the first fragment
  kHopLimitKept,     // as if the gateway had not decremented it
  kSequence,
  kTcpFlags
};

inline constexpr std::array<const char*, 25> kCorruptFieldNames{"source_address",
                                                                "destination_address",
                                                                "source_port",
                                                                "destination_port",
                                                                "hop_limit",
                                                                "payload",
                                                                "udp_checksum",
                                                                "ip_checksum",
                                                                "length",
                                                                "udp_length",
                                                                "number",
                                                                "no_udp_checksum",
                                                                "traffic_class",
                                                                "extension_header",
                                                                "vlan",
                                                                "outer_source",
                                                                "outer_destination",
                                                                "outer_hop_limit",
                                                                "outer_fragment",
                                                                "softwire",
                                                                "port_set",
                                                                "fragment",
                                                                "hop_limit_kept",
                                                                "sequence",
                                                                "tcp_flags"};

struct Corrupt {
  std::uint64_t every = 0;
  CorruptField field = CorruptField::kPayload;
  bool fix_checksum = true;
};

// Delays of frames: a pattern that is repeated, or pseudorandom values in [first, second].
struct Delay {
  std::vector<Nanoseconds> pattern_ns;  // with one member: the same delay for all frames
  std::optional<std::array<Nanoseconds, 2>> uniform_ns;
  std::uint64_t seed = 0;
};

// A segment of the tester's schedule: this many frames at this rate, then the next segment.
struct DepartureSegment {
  std::uint64_t frames = 0;
  std::uint64_t rate_fps = 0;
};

// A queue in front of a slower link, or with a depth in front of a token bucket (a shaper).
struct Buffer {
  std::uint64_t frames = 0;
  std::uint64_t drain_fps = 0;
  std::uint64_t depth = 0;                   // frames that a full bucket lets pass at once
  std::vector<DepartureSegment> departures;  // empty: uses the times at which frames arrive
};

// Times of which one is this long after the other, or, with exponentially distributed distances, in
// the mean.
struct Recurring {
  Nanoseconds every_ns = 0;
  bool is_exponential = false;
  std::uint64_t seed = 0;
};

// A gateway that drops all frames for a time: when it is overloaded, because a frame finds no token
// in a bucket, or now and then.
struct Sulk {
  std::variant<RateLimit, Recurring> cause;
  Nanoseconds for_ns = 0;
  std::vector<DepartureSegment> departures;
};

using FaultKind = std::variant<RateLimit, Loss, Duplicate, Reorder, Corrupt, Delay, Buffer, Sulk>;

struct Fault {
  std::optional<Direction> direction;  // absent: both, each with its own state
  FaultKind kind;

  [[nodiscard]] bool applies_to(Direction other) const { return !direction || *direction == other; }
};

struct SideConfig {
  std::vector<IpAddress> addresses;
  std::unordered_map<IpAddress, Mac, IpAddressHash> neighbours;
  VlanTags vlans;
};

struct Route {
  Prefix prefix;
  Side side = Side::kLeft;
  std::optional<IpAddress> via;  // absent: the destination is on the link
};

// The softwires of one side.
struct SoftwireConfig {
  Side inside = Side::kLeft;
  IpAddress address;  // the gateway's end of all softwires
  AddressMap map;     // from inner IPv4 addresses to the subscribers' ends
  // Ends whose packets only the stateful translation tells apart.
  std::optional<Prefix> subscribers;
};

struct Config {
  std::array<SideConfig, 2> sides;  // by Side
  std::vector<Route> routes;
  std::optional<AddressMap> translation;
  std::optional<SoftwireConfig> softwires;
  std::optional<NatConfig> nat;
  std::vector<Fault> faults;
  Nanoseconds idle_ns = 0;
  Nanoseconds sleep_ns = 0;  // after a turn without frames; 0: the loop never sleeps
};

}  // namespace natxy::gateway
