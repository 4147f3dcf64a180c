// The two IP versions, and the sizes that follow from them.
#pragma once

#include <cstdint>

namespace natxy::spec {

enum class IpVersion : std::uint8_t { k4 = 4, k6 = 6 };

// Returns the octets of an address.
[[nodiscard]] constexpr std::uint16_t address_octets(IpVersion version) {
  return version == IpVersion::k4 ? 4 : 16;
}

// Returns the octets of an IP header: IPv4 without options, IPv6 without extension headers.
[[nodiscard]] constexpr std::uint16_t ip_octets(IpVersion version) {
  return version == IpVersion::k4 ? 20 : 40;
}

}  // namespace natxy::spec
