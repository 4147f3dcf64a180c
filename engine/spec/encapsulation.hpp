// The encapsulations of a tunnel: what follows its outer IP header, before the packet in it.
//
// A new one is one entry of the table in encapsulation.cpp. The frames, what is expected of
// arriving ones, and the rules of a spec follow from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spec/ip_version.hpp"

namespace natxy::spec {

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
[[nodiscard]] const std::vector<Encapsulation>& encapsulations();

}  // namespace natxy::spec
