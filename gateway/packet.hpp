// Parses IPv4 and IPv6 packets in a frame, and sums up their octets. Lengths are checked before
// anything is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "gateway/address.hpp"
#include "gateway/frame.hpp"
#include "gateway/octets.hpp"

namespace natxy::gateway {

inline constexpr std::size_t kEthernetOctets = 14;
inline constexpr std::size_t kShortestFrameOctets = 60;  // without FCS
inline constexpr std::size_t kIpv4Octets = 20;           // without options
inline constexpr std::size_t kIpv6Octets = 40;
inline constexpr std::size_t kFragmentHeaderOctets = 8;
inline constexpr std::size_t kUdpOctets = 8;
inline constexpr std::size_t kTcpOctets = 20;  // without options

inline constexpr std::uint16_t kTypeIpv4 = 0x0800;
inline constexpr std::uint16_t kTypeArp = 0x0806;
inline constexpr std::uint16_t kTypeIpv6 = 0x86dd;

inline constexpr std::uint8_t kHopByHop = 0;
inline constexpr std::uint8_t kIcmp = 1;
inline constexpr std::uint8_t kIpv4InIpv6 = 4;  // RFC 2473
inline constexpr std::uint8_t kTcp = 6;
inline constexpr std::uint8_t kUdp = 17;
inline constexpr std::uint8_t kRouting = 43;
inline constexpr std::uint8_t kFragment = 44;
inline constexpr std::uint8_t kAuthentication = 51;
inline constexpr std::uint8_t kIcmp6 = 58;
inline constexpr std::uint8_t kDestinationOptions = 60;

// The position of a fragment in its packet.
struct Piece {
  std::uint32_t identification = 0;
  std::uint16_t offset = 0;  // in units of 8 octets
  bool more = false;

  [[nodiscard]] bool is_whole() const { return offset == 0 && !more; }
};

struct Ipv4Packet {
  Octets octets;  // header and data, without the frame's padding
  std::size_t header_octets;
  std::uint8_t tos;
  std::uint8_t ttl;
  std::uint8_t protocol;
  bool dont_fragment;
  Piece piece;
  IpAddress source;
  IpAddress destination;
  std::optional<IpAddress> softwire{};  // the far end of the softwire of an AFTR that it came from

  [[nodiscard]] Octets data() const { return octets.subspan(header_octets); }
};

struct Ipv6Packet {
  Octets octets;
  std::uint8_t traffic_class;
  std::uint8_t hop_limit;
  std::uint8_t next_header;
  IpAddress source;
  IpAddress destination;

  [[nodiscard]] Octets data() const { return octets.subspan(kIpv6Octets); }
};

[[nodiscard]] inline std::uint8_t hop_limit_of(const Ipv4Packet& packet) {
  return packet.ttl;
}
[[nodiscard]] inline std::uint8_t hop_limit_of(const Ipv6Packet& packet) {
  return packet.hop_limit;
}

// The upper-layer data after the extension headers of an IPv6 packet.
struct Ipv6Upper {
  std::uint8_t protocol;
  Octets data;
  std::optional<Piece> piece;  // present if there is a Fragment Header
};

// Parse a packet; absent if lengths contradict each other, the header checksum is wrong, or there
// is an unexpired source route.
[[nodiscard]] std::optional<Ipv4Packet> parse_ipv4(Octets octets);
[[nodiscard]] std::optional<Ipv6Packet> parse_ipv6(Octets octets);

// Finds the upper-layer data. Absent if lengths contradict each other, or if RFC 7915, 5.1
// and 5.1.1 requires that the packet is dropped: it has a Routing header with segments left, or an
// extension header after the Fragment Header.
[[nodiscard]] std::optional<Ipv6Upper> find_upper(const Ipv6Packet& packet);

// The Internet checksum (RFC 1071) and its incremental update (RFC 1624).
//
// Returns a ones' complement sum that is not folded yet; such sums can be added.
[[nodiscard]] inline std::uint64_t sum_of(Octets octets) {
  std::uint64_t sum = 0;
  std::size_t i = 0;
  for (; i + 1 < octets.size(); i += 2) sum += read16(octets.data() + i);
  return i < octets.size() ? sum + (std::uint64_t{octets[i]} << 8U) : sum;
}

[[nodiscard]] inline std::uint64_t sum_of(const IpAddress& address) {
  std::uint64_t sum = 0;
  for (auto rest = address.value; rest != 0; rest >>= 16U) {
    sum += static_cast<std::uint64_t>(rest) & 0xffffU;
  }
  return sum;
}

[[nodiscard]] inline std::uint16_t fold(std::uint64_t sum) {
  while (sum > 0xffffU) sum = (sum & 0xffffU) + (sum >> 16U);
  return static_cast<std::uint16_t>(sum);
}

[[nodiscard]] inline std::uint16_t checksum_of(std::uint64_t sum) {
  return static_cast<std::uint16_t>(~fold(sum));
}

// Returns the checksum after a change of the data (RFC 1624, equation 3: HC' = ~(~HC + ~m + m')).
[[nodiscard]] inline std::uint16_t follow(std::uint16_t checksum, std::uint64_t removed,
                                          std::uint64_t added) {
  return checksum_of((0xffffU - checksum) + (0xffffU - fold(removed)) + std::uint64_t{fold(added)});
}

// Returns the checksum as UDP sends it: 0 would mean that there is none, so 0 is sent as 0xffff
// (RFC 768).
[[nodiscard]] inline std::uint16_t udp_form(std::uint16_t checksum) {
  return checksum == 0 ? 0xffffU : checksum;
}

// A whole UDP datagram or TCP segment. Offsets are from the frame's start.
struct TransportHeader {
  std::uint8_t protocol = kUdp;
  std::size_t at = 0;
  std::size_t data = 0;

  [[nodiscard]] bool is_udp() const { return protocol == kUdp; }
  [[nodiscard]] bool is_tcp() const { return protocol == kTcp; }
  [[nodiscard]] std::size_t checksum() const { return at + (is_udp() ? 6 : 16); }
  // The tester's stamp: at the start of the data of UDP, and in TCP behind kind and length of the
  // first option (docs/decisions/0033).
  [[nodiscard]] std::size_t stamp() const { return is_udp() ? data : at + kTcpOctets + 2; }
};

// Offsets from the frame's start.
struct Anatomy {
  bool is_ipv6;
  std::size_t ip;                    // of the inner packet if it is in another one
  std::optional<std::size_t> outer;  // the IPv6 header around an IPv4 packet
  std::size_t packet_end;
  std::optional<TransportHeader> upper;

  // Returns whether there is an extension header.
  [[nodiscard]] bool extended() const { return is_ipv6 && upper && upper->at > ip + kIpv6Octets; }
  [[nodiscard]] std::size_t hop_limit() const { return ip + (is_ipv6 ? 7 : 8); }
  [[nodiscard]] std::size_t ip_length() const { return ip + (is_ipv6 ? 4 : 2); }
  [[nodiscard]] std::size_t source() const { return ip + (is_ipv6 ? 8 : 12); }
  [[nodiscard]] std::size_t destination() const { return ip + (is_ipv6 ? 24 : 16); }
  [[nodiscard]] std::size_t destination_end() const { return ip + (is_ipv6 ? 40 : 20); }
  [[nodiscard]] std::size_t ip_checksum() const { return ip + 10; }
  // The start of the packet that the link carries.
  [[nodiscard]] std::size_t packet() const { return outer.value_or(ip); }
};

// Finds the fields of a frame; absent if it is not IP. The gateway made the frame, so its lengths
// are correct; an earlier fault may have changed its checksums. What is in a packet that it routes
// may be anything.
[[nodiscard]] std::optional<Anatomy> dissect(const Frame& frame);

}  // namespace natxy::gateway
