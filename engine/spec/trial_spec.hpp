// The trial spec, which the package sends and the engine carries out.
//
// It consists of plain values. The members' names are the names in JSON (see json.hpp). They are
// explained in natxy/model/trial_spec.py and traffic_spec.py, from which
// docs/reference/engine-members.md is made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/encapsulation.hpp"

namespace natxy::spec {

inline constexpr int kVersion = 3;

// Limits that follow from the 18 octets of data in a frame and from the exactness of the
// arithmetic.
inline constexpr std::uint16_t kMinFrameSizeBytes = 64;  // of Ethernet, with FCS
inline constexpr std::uint16_t kMaxFrameSizeBytes = 9216;
inline constexpr std::uint64_t kMaxFramesPerStream = 1ULL << 40;
inline constexpr std::uint64_t kMaxTags = 200'000;  // of a stream: a result lists each of them
inline constexpr std::uint64_t kMaxRateFps = 1ULL << 33;
inline constexpr std::uint8_t kUsualHopLimit = 64;
inline constexpr std::uint32_t kMaxFlowLabel = (1U << 20U) - 1;
inline constexpr std::uint16_t kMaxVlanId = 4094;
inline constexpr std::size_t kMaxVlanTags = 2;
inline constexpr unsigned kMaxFieldBits = 24;
inline constexpr std::size_t kMaxFieldPlaces = 3;  // of one field in one address
inline constexpr std::size_t kMaxExtensionHeaders = 8;
inline constexpr std::uint32_t kMaxMixN = 1U << 16;
inline constexpr std::uint64_t kMaxTrialNs = 24ULL * 3600 * 1'000'000'000;  // one day
inline constexpr std::uint64_t kMaxConnections = 1ULL << 32;
inline constexpr std::size_t kMaxPhases = 8;
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

// How a value (a port, or a field of an address) depends on a frame's ordinal (RFC 4814).
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

// Which segments of TCP connections a stream's frames are (docs/decisions/0033). With the role, it
// determines flags, sequence number and acknowledgement number. kAck is the end of the handshake,
// and what carries data.
enum class TcpSegment : std::uint8_t { kSyn, kAck, kFin, kLastAck, kRst };

struct Connections {
  Role role = Role::kEstablish;
  Order order = Order::kLinear;
  std::optional<TcpSegment> segment{};  // present iff the frames are TCP
  std::uint64_t first = 0;              // the first connection; of the role kEstablish
};

// What happens before the first frame: the neighbours are resolved, and with kProbes, probe frames
// are sent until they arrive.
enum class WarmUpMode : std::uint8_t { kProbes, kNeighbours };

struct Series {
  SeriesMode mode = SeriesMode::kFixed;
  std::uint32_t min = 0;  // the value if mode is fixed
  std::uint32_t max = 0;
};

// Bits of a field's value, and where they are in an address. value_bit counts from the value's
// least significant bit, address_bit from the address's most significant one, as the length of a
// prefix does.
struct FieldBits {
  std::uint8_t value_bit = 0;
  std::uint8_t bits = 16;
  std::uint8_t address_bit = 0;
  friend bool operator==(const FieldBits&, const FieldBits&) = default;
};

// Sets the bits of the field in an address to those of a value, and leaves the others as they are.
// The hot loops have frame::AddressSlots instead.
inline void put_field(std::uint8_t* address, const std::vector<FieldBits>& field,
                      std::uint32_t value) {
  for (const auto& place : field) {
    for (unsigned i = 0; i < place.bits; ++i) {
      const unsigned at = place.address_bit + i;
      const auto mask = static_cast<std::uint8_t>(0x80U >> at % 8);
      const bool set = (value >> (place.value_bit + place.bits - 1U - i) & 1U) != 0;
      auto& octet = address[at / 8];
      octet = static_cast<std::uint8_t>(set ? octet | mask : octet & ~mask);
    }
  }
}

// The ports of one of the hosts that share an IPv4 address (RFC 7597 section 5.1): from the most
// significant bit, offset_bits that are not all 0, the PSID, and the rest. The PSID is in the
// lowest bits of the address field.
struct PortSet {
  std::uint8_t offset_bits = 0;
  std::uint8_t psid_bits = 1;
  friend bool operator==(const PortSet&, const PortSet&) = default;
};

// An IP address in which one octet may hold the number of the destination network, and some bits a
// varying field.
struct AddressPattern {
  std::array<std::uint8_t, 16> octets{};       // network order; IPv4 uses the first 4
  std::optional<std::uint8_t> network_byte{};  // offset in octets
  std::vector<FieldBits> field{};
};

// Returns the bits of a field of 16 bits that begins with this octet of an address.
[[nodiscard]] inline std::vector<FieldBits> field_at(unsigned octet) {
  return {{.value_bit = 0, .bits = 16, .address_bit = static_cast<std::uint8_t>(8 * octet)}};
}

// An extension header of IPv6 (RFC 8200 section 4) with 8 octets. Nodes on the path may look at it,
// but must not change it.
enum class ExtensionHeader : std::uint8_t { kHopByHop, kDestinationOptions, kRouting };

// The outer header of a packet in a tunnel, such as a softwire of DS-Lite, lw4o6 and MAP-E. The
// gateway may change traffic class and flow label, and the DF bit and the identification of IPv4.
// It may choose the hop limit, which is then the same in all frames.
struct Tunnel {
  const Encapsulation* encapsulation = &encapsulations().front();  // IP in IP
  IpVersion ip_version = IpVersion::k6;
  AddressPattern source{};
  AddressPattern destination{};
  std::uint8_t hop_limit = kUsualHopLimit;  // on departure

  // Returns the octets before a packet of this IP version.
  [[nodiscard]] std::size_t octets_before(IpVersion inside) const {
    return ip_octets(ip_version) + encapsulation->before(inside).octets.size();
  }
};

enum class Transport : std::uint8_t { kUdp, kTcp };

// What the frames of one kind are at one end of a stream. What varies between them follows from
// their numbers.
struct PacketFormat {
  IpVersion ip_version = IpVersion::k4;
  AddressPattern source{};
  AddressPattern destination{};
  std::uint16_t frame_size_bytes = 84;             // with FCS, without VLAN tags
  std::uint8_t traffic_class = 0;                  // DSCP and ECN; IPv4 calls the octet TOS
  std::uint32_t flow_label = 0;                    // IPv6
  std::vector<ExtensionHeader> extension_headers;  // IPv6, in the order of the frame
  std::optional<Tunnel> tunnel;
  Transport transport = Transport::kUdp;  // the same at both ends

  // What the link layer carries: the outer header if there is a tunnel.
  [[nodiscard]] IpVersion link_version() const { return tunnel ? tunnel->ip_version : ip_version; }
  [[nodiscard]] const AddressPattern& link_source() const {
    return tunnel ? tunnel->source : source;
  }
  [[nodiscard]] const AddressPattern& link_destination() const {
    return tunnel ? tunnel->destination : destination;
  }
};

// One kind of traffic of a stream: its frames as they leave, and as they must arrive.
struct Traffic {
  PacketFormat departure;
  PacketFormat arrival;
  Selection selection = Selection::kIndependent;
  Series source_port;  // with a port set: of the indices of its ports
  Series destination_port;
  Series source_field;
  Series destination_field;
  std::optional<PortSet> source_port_set{};
  std::optional<PortSet> destination_port_set{};
  std::uint16_t networks = 1;                  // 1-256 destination networks, chosen pseudorandomly
  std::uint8_t hop_limit = kUsualHopLimit;     // on departure
  bool dont_fragment = true;                   // IPv4's DF bit; without it, identifications differ
  std::optional<std::uint8_t> hop_limit_drop;  // absent: learned from the first frame that arrives
  // Send no frame whose UDP checksum on arrival would be ffff: some translators make it 0000.
  bool avoid_zero_checksum = false;
  // Traffic class and flow label on arrival must be those of `arrival`.
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

// Which frames are foreground: frame i iff i mod n < m. With `even`, it is iff i m mod n is 0 or
// above n - m: m of n frames as well, but as far apart as they can be.
struct Mix {
  std::uint32_t n = 1;
  std::uint32_t m = 1;
  bool even = false;
};

struct Stream {
  Direction direction = Direction::kForward;
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

// A VLAN tag (IEEE 802.1Q). The tester sends every frame of a side with the side's tags, ARP and
// Neighbour Discovery included, and expects them on arrival.
struct VlanTag {
  std::uint16_t tpid = 0x8100;  // the tag's EtherType; 88a8 for the outer of two tags
  std::uint16_t id = 1;         // 1 to kMaxVlanId
  std::uint8_t priority = 0;    // 0 to 7; the gateway may change it
  friend bool operator==(const VlanTag&, const VlanTag&) = default;
};

struct SideSpec {
  NextHop next_hop;
  std::vector<VlanTag> vlans;              // outer tag first
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
  // How the gateway has given out its external addresses and ports, in the state table's result.
  bool mappings = false;
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
