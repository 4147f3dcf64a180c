// What one trial is: the spec that the package sends and the engine carries out.
//
// Plain values, nothing left to interpret: JSON names are the names below (see json.hpp,
// schemas/trial-spec.schema.json and docs/reference/engine-protocol.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace natxy::spec {

inline constexpr int kVersion = 2;

// Limits of what a frame's 18 octets of data can carry and of what the arithmetic is exact for.
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
enum class Kind : std::uint8_t { kForeground, kBackground };
enum class IpVersion : std::uint8_t { k4 = 4, k6 = 6 };

// How a 16-bit value (a port, or a field of an address) follows from a frame's ordinal (RFC 4814).
enum class SeriesMode : std::uint8_t { kFixed, kIncreasing, kDecreasing, kPseudorandom };

// How the whole four-tuple follows from the ordinal: each series for itself, or every combination
// of the ranges exactly once in the order named (RFC 9693).
enum class Selection : std::uint8_t {
  kIndependent,
  kEnumerateIncreasing,
  kEnumerateDecreasing,
  kEnumeratePseudorandom
};

// What a stream does with the connections of its trial (RFC 9693): phase 1 establishes them; in
// phase 2 the initiator uses those that exist, or makes the missing ones, and the responder
// answers.
enum class Role : std::uint8_t { kEstablish, kInitiate, kRespond };

// In which order a stream takes connections, which are numbered as the establishing stream
// enumerates them. Linear: each once. Missing: each once of those that are not there, which are for
// an initiator the ones that are not in the table, and for a responder the ones in it that no
// linear reply came back for. Repeating: combinations drawn pseudorandomly, with repetition. The
// others go on for ever.
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

// What is done before the first frame: neighbours only, or also probe frames until they come
// through.
enum class WarmUpMode : std::uint8_t { kProbes, kNeighbours };

struct Series {
  SeriesMode mode = SeriesMode::kFixed;
  std::uint16_t min = 0;  // the value where mode is fixed
  std::uint16_t max = 0;
};

// An IP address of which one octet may hold the destination network's number and two octets a
// varying field. Offsets are octets from the start of the address.
struct AddressPattern {
  std::array<std::uint8_t, 16> octets{};  // network order; IPv4 uses the first 4
  std::optional<std::uint8_t> network_byte;
  std::optional<std::uint8_t> field_byte;  // of the field's more significant octet
};

struct AddressPair {
  IpVersion ip_version = IpVersion::k4;
  AddressPattern source;
  AddressPattern destination;
};

// One kind of traffic of a stream: how its frames leave and what they must look like when they
// come.
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
  // Send no frame whose UDP checksum on arrival is to be ffff: some translators make it 0000.
  bool avoid_zero_checksum = false;
  // The DSCP, ECN and flow label that a frame leaves with, which are 0, must be those on arrival.
  bool dscp_kept = false;
  // A UDP checksum of 0 is wrong over IPv4, too, where RFC 768 has it say that there is none.
  bool udp_checksum_required = false;
  // Absent: stateless. What only the gateway knows is not read: an establishing stream's source on
  // arrival, a responding one's destination on departure.
  std::optional<Connections> connections;
};

struct Segment {
  std::uint64_t frames = 0;
  std::uint64_t rate_fps = 0;  // per direction
  std::uint64_t pause_ns = 0;  // silence after the segment
  // Frames that follow each other at burst_rate_fps (RFC 2544 section 21); each burst begins when
  // its first frame is due at rate_fps, which is the mean rate then. 1: steady traffic.
  std::uint32_t burst_frames = 1;
  std::uint64_t burst_rate_fps = 0;  // at least rate_fps; 0 where there are no bursts
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
  std::vector<Stream> streams;  // at most one a direction
  // If fewer are in the table after the phase, or have answered where a responder asks, the trial
  // ends there and is incomplete.
  std::uint64_t minimum_connections = 0;
};

struct NextHop {
  std::optional<std::array<std::uint8_t, 4>> ipv4;
  std::optional<std::array<std::uint8_t, 16>> ipv6;
  std::optional<std::array<std::uint8_t, 6>> mac;  // given: nothing is resolved on this side
};

struct SideSpec {
  NextHop next_hop;
  std::vector<std::string> own_addresses;  // answered for beside what the streams use
};

struct WarmUp {
  WarmUpMode mode = WarmUpMode::kProbes;
  std::uint64_t timeout_ns = 5'000'000'000;
};

// Tagged frames, whose delays make the latency (RFC 8219 7.2): `count` of those due from after_ns
// on, evenly spread; all of them where there are no more.
struct Tags {
  std::uint64_t after_ns = 0;  // since the phase's start
  std::uint64_t count = 0;
};

struct Recording {  // beside counters and delays, in every stream
  std::optional<Tags> tags;
  bool ipdv = false;    // D(i) - D(i-1)
  bool frames = false;  // every frame, to the pipe of --records-fd
};

// A CPU of this machine that the gateway runs on, and the threads that are the gateway there: what
// else runs on it takes it away (docs/decisions/0018).
struct WatchedCpu {
  int cpu = 0;
  std::vector<std::int32_t> threads;
};

struct TrialSpec {
  int version = kVersion;
  std::uint64_t seed = 0;
  std::uint32_t nonce = 0;  // differs from trial to trial: frames of another nonce are foreign
  std::uint64_t drain_ns = 2'000'000'000;
  std::uint64_t frame_timeout_ns = 0;  // 0: none; else frames that take longer count as late
  std::uint64_t lateness_tolerance_ns = 0;
  // 0: none; else the trial ends as soon as a frame has certainly been missing for longer than
  // this: what it lost by then says that it failed and nothing else.
  std::uint64_t early_end_ns = 0;
  // A link that falls and comes back does not make the trial invalid: the device is reset in it.
  bool link_may_fall = false;
  bool realtime = false;  // workers run under SCHED_FIFO during the trial
  // A sender that is behind by more frames of its direction than this, or by more than the lateness
  // tolerance, pauses: it moves the rest of its schedule instead of sending the arrears as a burst
  // (docs/decisions/0017). 0: it never pauses.
  std::uint32_t burst_limit_frames = 0;
  std::vector<WatchedCpu> watched;
  Recording recording;
  WarmUp warm_up;
  std::array<SideSpec, 2> sides;  // by Side; JSON: {"left": ..., "right": ...}
  std::vector<Phase> phases;
};

}  // namespace natxy::spec
