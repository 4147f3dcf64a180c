// Where the parts of a test frame are, and its headers: Ethernet, VLAN tags, IPv4 without options
// or IPv6 with extension headers, UDP or TCP, and the data. The IP packet may be in a tunnel. The
// port adds the FCS.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "frame/checksum.hpp"
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

// Reads a big-endian 16-bit word.
[[nodiscard]] inline std::uint16_t read16(const std::uint8_t* from) {
  return swap16(load<std::uint16_t>(from));
}

// Returns where the EtherType is that follows the VLAN tags; 12 if there are none.
[[nodiscard]] inline std::size_t ether_type_at(const std::uint8_t* frame, std::uint32_t size) {
  std::size_t at = 12;
  for (std::size_t tags = 0; tags < spec::kMaxVlanTags && at + kVlanTagOctets + 2 <= size; ++tags) {
    const auto type = read16(frame + at);
    if (type != 0x8100 && type != 0x88a8) break;
    at += kVlanTagOctets;
  }
  return at;
}

// Returns whether the frame is for the neighbour responder: ARP, or an ICMPv6 Neighbour
// Solicitation or Advertisement.
[[nodiscard]] inline bool concerns_neighbours(const std::uint8_t* frame, std::uint32_t size) {
  if (size < 42) return false;
  const auto at = ether_type_at(frame, size);
  const auto type = read16(frame + at);
  if (type == 0x0806) return true;
  return type == 0x86dd && size >= at + 66 && frame[at + 8] == 58 &&
         (frame[at + 42] == 135 || frame[at + 42] == 136);
}

using Mac = std::array<std::uint8_t, 6>;

struct Link {
  Mac source{};
  Mac destination{};
  std::vector<spec::VlanTag> vlans;  // outer tag first
};

// Returns a frame of this kind at one end, without FCS: zeros where frames differ and in the
// checksums, and data that increase from 0 after the stamp (RFC 2544 C.2.6.4). The headers are the
// same in departing frames and in what is expected of arriving ones.
[[nodiscard]] std::vector<std::uint8_t> make_frame(const spec::PacketFormat& format,
                                                   const spec::Traffic& traffic, const Link& link);

// What the gateway must keep of the headers, compared as words of 64 bits: VLAN tags (but not their
// priority), version, lengths and protocol, also of a tunnel's header, and extension headers; if
// the spec asks for it, traffic class and flow label too. Addresses and hop limit are compared
// elsewhere.
class HeaderMask {
 public:
  HeaderMask() = default;
  // frame: as make_frame() returns it.
  HeaderMask(const Layout& layout, const spec::Traffic& traffic,
             const std::vector<std::uint8_t>& frame);

  // The frame must be as long as its layout's min_octets().
  [[nodiscard]] bool matches(const std::uint8_t* frame) const {
    // Plain IPv4 has two words and plain IPv6 one, so a loop would cost more than it does.
    auto different = differences(frame, 0) | differences(frame, 1);
    if (words_ > 2) [[unlikely]] {
      for (unsigned i = 2; i < words_; ++i) different |= differences(frame, i);
    }
    return different == 0;
  }

 private:
  [[nodiscard]] std::uint64_t differences(const std::uint8_t* frame, unsigned word) const {
    const auto seen = load<std::uint64_t>(frame + from_ + std::size_t{8} * word);
    return (seen ^ expected_[word]) & mask_[word];
  }

  // From the first VLAN tag to the UDP header there are at most 8 octets of tags, an EtherType, 40
  // octets of IPv6 and 64 of extension headers, and before them a tunnel's header: 40 octets of
  // IPv6, and at most 6 of an encapsulation (the test of all forms has the longest).
  static constexpr std::size_t kMaxWords = 20;

  unsigned words_ = 0;
  std::uint16_t from_ = 0;  // offset of the first word
  std::array<std::uint64_t, kMaxWords> expected_{};
  std::array<std::uint64_t, kMaxWords> mask_{};
};

}  // namespace natxy::frame
