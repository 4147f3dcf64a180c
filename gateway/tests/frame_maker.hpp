// Makes frames for the tests octet by octet, and reads those that come out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gateway/address.hpp"
#include "gateway/octets.hpp"
#include "gateway/packet.hpp"

namespace natxy::gateway::test {

using Bytes = std::vector<std::uint8_t>;

inline constexpr Mac kLeftMac{2, 0, 0, 0, 0, 0x0a};  // the gateway's
inline constexpr Mac kRightMac{2, 0, 0, 0, 0, 0x0b};
inline constexpr Mac kTesterMac{2, 0, 0, 0, 0, 1};
inline constexpr Mac kOtherMac{2, 0, 0, 0, 0, 2};

inline IpAddress ip(const std::string& text) {
  return parse_address(text).value();
}

struct UdpFrame {
  std::string source = "198.18.0.2";
  std::string destination = "198.19.0.2";
  std::uint16_t source_port = 1000;
  std::uint16_t destination_port = 2000;
  std::size_t data_octets = 18;
  std::uint8_t hop_limit = 64;
  Mac to = kLeftMac;
  std::uint8_t first_octet = 0;  // of the data; the others are 1, 2, 3, ...
};

inline void put_ethernet(Bytes& frame, const Mac& to, std::uint16_t type) {
  std::ranges::copy(to, frame.begin());
  std::ranges::copy(kTesterMac, frame.begin() + 6);
  write16(frame.data() + 12, type);
}

inline void put_udp(std::uint8_t* udp, const UdpFrame& wanted) {
  const auto octets = kUdpOctets + wanted.data_octets;
  write16(udp, wanted.source_port);
  write16(udp + 2, wanted.destination_port);
  write16(udp + 4, static_cast<std::uint32_t>(octets));
  for (std::size_t i = 0; i < wanted.data_octets; ++i) udp[8 + i] = static_cast<std::uint8_t>(i);
  if (wanted.data_octets > 0) udp[8] = wanted.first_octet;
  const auto sum = sum_of(ip(wanted.source)) + sum_of(ip(wanted.destination)) + kUdp + octets +
                   sum_of({udp, octets});
  write16(udp + 6, udp_form(checksum_of(sum)));
}

inline Bytes make_udp(const UdpFrame& wanted) {
  const bool is_ipv6 = ip(wanted.source).is_ipv6;
  const auto header = is_ipv6 ? kIpv6Octets : kIpv4Octets;
  const auto upper = kUdpOctets + wanted.data_octets;
  Bytes frame(kEthernetOctets + header + upper);
  put_ethernet(frame, wanted.to, is_ipv6 ? kTypeIpv6 : kTypeIpv4);
  auto* at = frame.data() + kEthernetOctets;
  if (is_ipv6) {
    write32(at, 6U << 28U);
    write16(at + 4, static_cast<std::uint32_t>(upper));
    at[6] = kUdp;
    at[7] = wanted.hop_limit;
  } else {
    at[0] = 0x45;
    write16(at + 2, static_cast<std::uint32_t>(header + upper));
    write16(at + 6, 0x4000);
    at[8] = wanted.hop_limit;
    at[9] = kUdp;
  }
  ip(wanted.source).write(at + (is_ipv6 ? 8 : 12));
  ip(wanted.destination).write(at + (is_ipv6 ? 24 : 16));
  if (!is_ipv6) write16(at + 10, checksum_of(sum_of({at, kIpv4Octets})));
  put_udp(at + header, wanted);
  return frame;
}

// The contents of a frame, read without the gateway's parser.
struct Seen {
  explicit Seen(Bytes octets) : frame(std::move(octets)) {}
  Bytes frame;

  [[nodiscard]] bool is_ipv6() const { return read16(frame.data() + 12) == kTypeIpv6; }
  [[nodiscard]] const std::uint8_t* ip_header() const { return frame.data() + 14; }
  [[nodiscard]] const std::uint8_t* udp() const { return ip_header() + (is_ipv6() ? 40 : 20); }
  [[nodiscard]] std::size_t udp_octets() const { return frame.size() - 14 - (is_ipv6() ? 40 : 20); }
  [[nodiscard]] std::uint8_t hop_limit() const { return ip_header()[is_ipv6() ? 7 : 8]; }
  [[nodiscard]] std::uint8_t first_octet() const { return udp()[8]; }
  [[nodiscard]] IpAddress source() const {
    return is_ipv6() ? IpAddress::read_ipv6(ip_header() + 8)
                     : IpAddress::read_ipv4(ip_header() + 12);
  }
  [[nodiscard]] IpAddress destination() const {
    return is_ipv6() ? IpAddress::read_ipv6(ip_header() + 24)
                     : IpAddress::read_ipv4(ip_header() + 16);
  }
  [[nodiscard]] bool ip_checksum_is_right() const {
    return is_ipv6() || checksum_of(sum_of({ip_header(), 20})) == 0;
  }
  [[nodiscard]] bool udp_checksum_is_right() const {
    return checksum_of(sum_of(source()) + sum_of(destination()) + kUdp + udp_octets() +
                       sum_of({udp(), udp_octets()})) == 0;
  }
};

}  // namespace natxy::gateway::test
