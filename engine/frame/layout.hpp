// The layout of a test frame: Ethernet, IPv4 without options or IPv6 without extension headers,
// UDP, and the data. The port adds the FCS.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spec/trial_spec.hpp"

namespace natxy::frame {

inline constexpr std::size_t kEthernetOctets = 14;
inline constexpr std::size_t kFcsOctets = 4;
inline constexpr std::size_t kUdpOctets = 8;
inline constexpr std::size_t kStampOctets = 18;
inline constexpr std::uint8_t kProtocolUdp = 17;

// EtherTypes as a 16-bit load from the frame on a little-endian machine.
inline constexpr std::uint16_t kEtherTypeIpv4 = 0x0008;
inline constexpr std::uint16_t kEtherTypeIpv6 = 0xdd86;

struct Layout {
  spec::IpVersion ip_version;
  std::uint16_t source;  // offsets of the addresses from the start of the frame
  std::uint16_t destination;
  std::uint16_t address_octets;
  std::uint16_t hop_limit;
  std::uint16_t udp;
  [[nodiscard]] constexpr std::uint16_t stamp() const {
    return static_cast<std::uint16_t>(udp + kUdpOctets);
  }
  [[nodiscard]] constexpr std::uint16_t min_octets() const {
    return static_cast<std::uint16_t>(stamp() + kStampOctets);
  }
};

inline constexpr Layout kIpv4Layout{.ip_version = spec::IpVersion::k4,
                                    .source = 26,
                                    .destination = 30,
                                    .address_octets = 4,
                                    .hop_limit = 22,
                                    .udp = 34};
inline constexpr Layout kIpv6Layout{.ip_version = spec::IpVersion::k6,
                                    .source = 22,
                                    .destination = 38,
                                    .address_octets = 16,
                                    .hop_limit = 21,
                                    .udp = 54};

[[nodiscard]] constexpr const Layout& layout_of(spec::IpVersion version) {
  return version == spec::IpVersion::k4 ? kIpv4Layout : kIpv6Layout;
}

// Returns the octets of a frame without FCS, from the spec's frame size (IPv6, with FCS).
[[nodiscard]] constexpr std::size_t frame_octets(spec::IpVersion version,
                                                 std::uint16_t frame_size_bytes) {
  return frame_size_bytes - kFcsOctets - (version == spec::IpVersion::k4 ? 20U : 0U);
}

}  // namespace natxy::frame
