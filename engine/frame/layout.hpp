// Where the parts of a test frame are: Ethernet, VLAN tags, IPv4 without options or IPv6 with
// extension headers, UDP or TCP, and the data. The IP packet may be in a tunnel. The port adds the
// FCS.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spec/trial_spec.hpp"

namespace natxy::frame {

inline constexpr std::size_t kEthernetOctets = 14;
inline constexpr std::size_t kVlanTagOctets = 4;
inline constexpr std::size_t kFcsOctets = 4;
inline constexpr std::size_t kExtensionHeaderOctets = 8;
inline constexpr std::size_t kUdpOctets = 8;
inline constexpr std::size_t kStampOctets = 18;
inline constexpr std::uint8_t kProtocolTcp = 6;
inline constexpr std::uint8_t kProtocolUdp = 17;

// EtherTypes as a 16-bit load from the frame on a little-endian machine.
inline constexpr std::uint16_t kEtherTypeIpv4 = 0x0008;
inline constexpr std::uint16_t kEtherTypeIpv6 = 0xdd86;

// Return the offset in an IP header of the source address, which the destination follows, of the
// hop limit, and of the protocol.
[[nodiscard]] constexpr std::uint16_t source_in(spec::IpVersion version) {
  return version == spec::IpVersion::k4 ? 12 : 8;
}
[[nodiscard]] constexpr std::uint16_t hop_limit_in(spec::IpVersion version) {
  return version == spec::IpVersion::k4 ? 8 : 7;
}
[[nodiscard]] constexpr std::uint16_t protocol_in(spec::IpVersion version) {
  return version == spec::IpVersion::k4 ? 9 : 6;
}
inline constexpr std::uint16_t kIdentificationInIpv4 = 4;
inline constexpr std::uint16_t kChecksumInIpv4 = 10;

// Offsets from the start of the frame. `first` is the outer header of a tunnel, else the IP header;
// the EtherType is in the two octets before it.
struct Layout {
  spec::IpVersion ip_version = spec::IpVersion::k4;
  spec::IpVersion link_version = spec::IpVersion::k4;  // of the header at `first`
  const spec::Encapsulation* encapsulation = nullptr;  // null without a tunnel
  std::uint16_t first = 0;
  std::uint16_t ip = 0;
  std::uint16_t source = 0;
  std::uint16_t destination = 0;
  std::uint16_t address_octets = 0;
  std::uint16_t hop_limit = 0;
  std::uint16_t upper = 0;  // the UDP or TCP header
  std::uint16_t stamp = 0;
  spec::Transport transport = spec::Transport::kUdp;

  [[nodiscard]] constexpr bool ipv4() const { return ip_version == spec::IpVersion::k4; }
  [[nodiscard]] constexpr bool tunnelled() const { return first != ip; }
  // As a 16-bit load from the frame.
  [[nodiscard]] constexpr std::uint16_t ether_type() const {
    return link_version == spec::IpVersion::k4 ? kEtherTypeIpv4 : kEtherTypeIpv6;
  }
  // The offset of the source address in the header at `first`.
  [[nodiscard]] constexpr std::uint16_t link_source() const {
    return static_cast<std::uint16_t>(first + source_in(link_version));
  }
  [[nodiscard]] constexpr bool tcp() const { return transport == spec::Transport::kTcp; }
  // As protocol of IPv4 and next header of IPv6.
  [[nodiscard]] constexpr std::uint8_t protocol() const {
    return tcp() ? kProtocolTcp : kProtocolUdp;
  }
  // The checksum of UDP or TCP.
  [[nodiscard]] constexpr std::uint16_t checksum() const {
    return static_cast<std::uint16_t>(upper + (tcp() ? 16 : 6));
  }
  [[nodiscard]] constexpr std::uint16_t min_octets() const {
    return static_cast<std::uint16_t>(stamp + kStampOctets);
  }
  friend constexpr bool operator==(const Layout&, const Layout&) = default;
};

// The hop limits of a frame on arrival; 0: not known. Aligned, since receivers agree on them by an
// atomic exchange, which clang does not inline for octets that may lie anywhere.
struct alignas(2) HopLimits {
  std::uint8_t inner = 0;  // of the packet, whether or not it is in a tunnel
  std::uint8_t outer = 0;  // of the header at Layout::first: without a tunnel, of the packet too
  friend bool operator==(const HopLimits&, const HopLimits&) = default;
};

// Returns the one object for this layout, which lives as long as the program: layouts are equal if
// their addresses are. Not for the hot loops.
[[nodiscard]] const Layout& layout_of(const spec::PacketFormat& format, std::size_t vlan_tags);

// Does the same for frames without VLAN tags and extension headers.
[[nodiscard]] const Layout& layout_of(spec::IpVersion version);

// Returns the layout of frames of this one to which a gateway has added a Fragment Header (RFC 8200
// section 4.5); the same one without IPv6.
[[nodiscard]] const Layout& fragment_of(const Layout& layout);

}  // namespace natxy::frame
