// The IP versions, and the encapsulations of a tunnel: what follows its outer IP header, before the
// packet in it.
//
// A new encapsulation is one entry of the table. The frames, what is expected of arriving ones, and
// the rules of a spec follow from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace natxy::spec {

// The two IP versions, and the sizes that follow from them.
enum class IpVersion : std::uint8_t { k4 = 4, k6 = 6 };

// Returns the octets of an address.
[[nodiscard]] constexpr std::uint16_t address_octets(IpVersion version) {
  return version == IpVersion::k4 ? 4 : 16;
}

// Returns the octets of an IP header: IPv4 without options, IPv6 without extension headers.
[[nodiscard]] constexpr std::uint16_t ip_octets(IpVersion version) {
  return version == IpVersion::k4 ? 20 : 40;
}

struct TunnelHeader {
  std::uint8_t protocol = 0;           // in the outer IP header
  std::vector<std::uint8_t> octets{};  // after it; the gateway must not change them
};

struct Encapsulation {
  std::string name;   // in JSON
  TunnelHeader ipv4;  // before an IPv4 packet
  TunnelHeader ipv6;  // before an IPv6 packet

  [[nodiscard]] const TunnelHeader& before(IpVersion inside) const {
    return inside == IpVersion::k4 ? ipv4 : ipv6;
  }
};

// Returns the table. Its first entry is the usual one, IP in IP.
[[nodiscard]] inline const std::vector<Encapsulation>& encapsulations() {
  static const std::vector<Encapsulation> all = {
      // RFC 2003 (IPv4 in IPv4), RFC 4213 (IPv6 in IPv4), RFC 2473 (both in IPv6)
      {.name = "ip", .ipv4 = {.protocol = 4}, .ipv6 = {.protocol = 41}},
      // RFC 2784, without a checksum; RFC 7676 for IPv6. The last two octets are the EtherType.
      {.name = "gre",
       .ipv4 = {.protocol = 47, .octets = {0, 0, 0x08, 0x00}},
       .ipv6 = {.protocol = 47, .octets = {0, 0, 0x86, 0xdd}}},
  };
  return all;
}

}  // namespace natxy::spec
