// The trial spec, which the package sends and the engine carries out.
//
// It consists of plain values. The members' names are the names in JSON (see json.hpp,
// schemas/trial-spec.schema.json and docs/reference/engine-protocol.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace natxy::spec {

inline constexpr int kVersion = 2;

// Limits that follow from the 18 octets of data in a frame and from the exactness of the
// arithmetic.
inline constexpr std::uint16_t kMinFrameSizeBytes = 84;
inline constexpr std::uint16_t kMaxFrameSizeBytes = 9216;
inline constexpr std::uint64_t kMaxFramesPerStream = 1ULL << 40;
inline constexpr std::uint64_t kMaxRateFps = 1ULL << 33;
inline constexpr std::uint8_t kUsualHopLimit = 64;
inline constexpr std::uint32_t kMaxMixN = 1U << 16;
inline constexpr std::uint64_t kMaxTrialNs = 24ULL * 3600 * 1'000'000'000;  // one day
inline constexpr std::uint64_t kMaxConnections = 1ULL << 32;
inline constexpr std::size_t kMaxPhases = 4;
inline constexpr std::size_t kMaxSegments = 64;
inline constexpr std::size_t kMaxWatched = 1024;
inline constexpr std::uint32_t kMaxBurstFrames = 1U << 16U;
inline constexpr std::uint32_t kMaxBurstLimit = 1U << 30U;

enum class Side : std::uint8_t { kLeft, kRight };
enum class Direction : std::uint8_t { kForward, kReverse };  // forward: left to right

// Return the side that the frames of a direction leave from, and the one that they arrive at.
[[nodiscard]] constexpr Side from_side(Direction direction) {
  return direction == Direction::kForward ? Side::kLeft : Side::kRight;
}
[[nodiscard]] constexpr Side to_side(Direction direction) {
  return direction == Direction::kForward ? Side::kRight : Side::kLeft;
}

enum class Kind : std::uint8_t { kForeground, kBackground };
enum class IpVersion : std::uint8_t { k4 = 4, k6 = 6 };

// How a 16-bit value (a port or a field of an address) depends on a frame's ordinal (RFC 4814).
enum class SeriesMode : std::uint8_t { kFixed, kIncreasing, kDecreasing, kPseudorandom };

// How the four-tuple depends on the ordinal: each series independently, or each combination of the
// ranges exactly once in the named order (RFC 9693).
enum class Selection : std::uint8_t {
  kIndependent,
  kEnumerateIncreasing,
  kEnumerateDecreasing,
  kEnumeratePseudorandom
};

// What a stream does with the connections of its trial (RFC 9693). Phase 1 establishes them. In
// phase 2, the initiator uses those that exist, or creates those that are missing, and the
// responder answers.
enum class Role : std::uint8_t { kEstablish, kInitiate, kRespond };

// The order in which a stream uses connections. The establishing stream's enumeration numbers them.
// - linear: each connection once.
// - missing: each missing connection once. For an initiator, these are the connections that are not
//   in the state table; for a responder, those in it for which no linear reply came back.
// - repeating: pseudorandom combinations, with repetition.
// - all others: endless.
enum class Order : std::uint8_t {
  kLinear,
  kFixed,
  kIncreasing,
  kDecreasing,
  kPseudorandom,
  kMissing,
  kRepeating
};

struct Connections {
  Role role = Role::kEstablish;
  Order order = Order::kLinear;
};

// What happens before the first frame: the neighbours are resolved, and with kProbes, probe frames
// are sent until they arrive.
enum class WarmUpMode : std::uint8_t { kProbes, kNeighbours };

struct Series {
  SeriesMode mode = SeriesMode::kFixed;
  std::uint16_t min = 0;  // the value if mode is fixed
  std::uint16_t max = 0;
};

// An IP address in which one octet may hold the number of the destination network, and two octets a
// varying field. Offsets are in octets from the start of the address.
struct AddressPattern {
  std::array<std::uint8_t, 16> octets{};  // network order; IPv4 uses the first 4
  std::optional<std::uint8_t> network_byte;
  std::optional<std::uint8_t> field_byte;  // offset of the field's more significant octet
};

struct AddressPair {
  IpVersion ip_version = IpVersion::k4;
  AddressPattern source;
  AddressPattern destination;
};

// One kind of traffic of a stream: its frames as they leave, and as they must arrive.
struct Traffic {
  AddressPair departure;
  AddressPair arrival;
  Selection selection = Selection::kIndependent;
  Series source_port;
  Series destination_port;
  Series source_field;
  Series destination_field;
  std::uint16_t networks = 1;                  // 1-256 destination networks, chosen pseudorandomly
  std::uint8_t hop_limit = kUsualHopLimit;     // on departure
  bool dont_fragment = true;                   // IPv4's DF bit
  std::optional<std::uint8_t> hop_limit_drop;  // absent: learned from the first frame that arrives
  // Send no frame whose UDP checksum on arrival would be ffff: some translators make it 0000.
  bool avoid_zero_checksum = false;
  // DSCP, ECN and flow label, which are 0 on departure, must be 0 on arrival.
  bool dscp_kept = false;
  // A UDP checksum of 0 is an error over IPv4 too, where RFC 768 lets it mean "no checksum".
  bool udp_checksum_required = false;
  // Absent in stateless traffic. The engine ignores the addresses that only the gateway knows: the
  // source on arrival of an establishing stream, the destination on departure of a responding one.
  std::optional<Connections> connections;
};

struct Segment {
  std::uint64_t frames = 0;
  std::uint64_t rate_fps = 0;  // per direction
  std::uint64_t pause_ns = 0;  // silence after the segment
  // Frames of a burst (RFC 2544 section 21), which follow each other at burst_rate_fps. Each burst
  // begins when its first frame is due at rate_fps, which is then the mean rate. 1: steady traffic.
  std::uint32_t burst_frames = 1;
  std::uint64_t burst_rate_fps = 0;  // at least rate_fps; 0 if there are no bursts
};

struct Mix {  // frame i is foreground iff i mod n < m
  std::uint32_t n = 1;
  std::uint32_t m = 1;
};

struct Stream {
  Direction direction = Direction::kForward;
  std::uint16_t frame_size_bytes = 84;  // the IPv6 frame with FCS; an IPv4 frame is 20 smaller
  Mix mix;
  std::vector<Segment> segments;
  std::optional<Traffic> foreground;  // present iff m > 0
  std::optional<Traffic> background;  // present iff m < n
};

struct Phase {
  std::string name;
  std::uint64_t gap_ns = 0;     // from the end of this phase's drain to the next phase
  std::vector<Stream> streams;  // at most one per direction
  // If fewer connections are in the state table after the phase (if a responder sends: if fewer
  // have answered), the trial ends there and is incomplete.
  std::uint64_t minimum_connections = 0;
};

struct NextHop {
  std::optional<std::array<std::uint8_t, 4>> ipv4;
  std::optional<std::array<std::uint8_t, 16>> ipv6;
  std::optional<std::array<std::uint8_t, 6>> mac;  // if given, nothing is resolved on this side
};

struct SideSpec {
  NextHop next_hop;
  std::vector<std::string> own_addresses;  // answered for in addition to the streams' addresses
};

struct WarmUp {
  WarmUpMode mode = WarmUpMode::kProbes;
  std::uint64_t timeout_ns = 5'000'000'000;
};

// Tagged frames, whose delays give the latency (RFC 8219 7.2): `count` frames, evenly spread over
// those that are due from after_ns on; all of these if they are fewer.
struct Tags {
  std::uint64_t after_ns = 0;  // since the phase's start
  std::uint64_t count = 0;
};

struct Recording {  // what is recorded in addition to counters and delays, in every stream
  std::optional<Tags> tags;
  bool ipdv = false;    // D(i) - D(i-1)
  bool frames = false;  // a record of each frame, to the pipe of --records-fd
};

// A CPU of this machine that runs the gateway, and the gateway's threads on it. Other work on this
// CPU is an absence (docs/decisions/0018).
struct WatchedCpu {
  int cpu = 0;
  std::vector<std::int32_t> threads;
};

struct TrialSpec {
  int version = kVersion;
  std::uint64_t seed = 0;
  std::uint32_t nonce = 0;  // differs between trials; frames with another nonce are foreign
  std::uint64_t drain_ns = 2'000'000'000;
  std::uint64_t frame_timeout_ns = 0;  // frames that take longer count as late; 0: no timeout
  std::uint64_t lateness_tolerance_ns = 0;
  // The trial ends as soon as a frame has certainly been missing for longer than this; 0: it does
  // not end early. The losses of a trial that ended early show only that it failed.
  std::uint64_t early_end_ns = 0;
  // A link that goes down and comes up again does not make the trial invalid, because the device is
  // reset during the trial.
  bool link_may_fall = false;
  bool realtime = false;  // workers run under SCHED_FIFO during the trial
  // A sender that is behind by more frames of its direction than this, or by more than the lateness
  // tolerance, pauses: it moves the rest of its schedule instead of sending the overdue frames as a
  // burst (docs/decisions/0017). 0: it never pauses.
  std::uint32_t burst_limit_frames = 0;
  std::vector<WatchedCpu> watched;
  Recording recording;
  WarmUp warm_up;
  std::array<SideSpec, 2> sides;  // by Side; JSON: {"left": ..., "right": ...}
  std::vector<Phase> phases;
};

}  // namespace natxy::spec
