// The positions of fields in a frame that the gateway forwards.
#pragma once

#include <cstddef>
#include <optional>

#include "gateway/frame_store.hpp"
#include "gateway/packet.hpp"

namespace natxy::gateway {

// Offsets from the frame's start.
struct Anatomy {
  bool is_ipv6;
  std::size_t ip;                    // of the inner packet if it is in another one
  std::optional<std::size_t> outer;  // the IPv6 header around an IPv4 packet
  std::size_t packet_end;
  std::optional<std::size_t> udp;  // absent unless the frame has a whole UDP datagram

  // Returns whether there is an extension header.
  [[nodiscard]] bool extended() const { return is_ipv6 && udp && *udp > ip + kIpv6Octets; }
  [[nodiscard]] std::size_t hop_limit() const { return ip + (is_ipv6 ? 7 : 8); }
  [[nodiscard]] std::size_t ip_length() const { return ip + (is_ipv6 ? 4 : 2); }
  [[nodiscard]] std::size_t source_end() const { return ip + (is_ipv6 ? 24 : 16); }
  [[nodiscard]] std::size_t destination_end() const { return ip + (is_ipv6 ? 40 : 20); }
  [[nodiscard]] std::size_t ip_checksum() const { return ip + 10; }
};

// Returns whether the octets start with a whole IPv4 header.
[[nodiscard]] inline bool has_ipv4_header(Octets octets) {
  if (octets.size() < kIpv4Octets || octets[0] >> 4U != 4) return false;
  const auto header = (octets[0] & 15U) * std::size_t{4};
  return header >= kIpv4Octets && header <= octets.size();
}

// Finds the fields of a frame; absent if it is not IP. The gateway made the frame, so its lengths
// are correct; an earlier fault may have changed its checksums. What is in a packet that it routes
// may be anything.
[[nodiscard]] inline std::optional<Anatomy> dissect(const Frame& frame) {
  constexpr auto kIp = kEthernetOctets;
  const std::uint8_t* ip = frame.octets + kIp;
  const auto type = read16(ip - 2);
  if (type != kTypeIpv4 && type != kTypeIpv6) return std::nullopt;
  Anatomy anatomy{
      .is_ipv6 = type == kTypeIpv6, .ip = kIp, .outer = {}, .packet_end = frame.length, .udp = {}};
  if (anatomy.is_ipv6 && ip[6] == kIpv4InIpv6 &&
      has_ipv4_header(frame.view().subspan(kIp + kIpv6Octets))) {
    anatomy.is_ipv6 = false;
    anatomy.outer = kIp;
    anatomy.ip += kIpv6Octets;
    ip += kIpv6Octets;
  }
  if (anatomy.is_ipv6) {
    const auto packet = parse_ipv6(frame.view().subspan(kIp));
    const auto upper = packet ? find_upper(*packet) : std::nullopt;
    if (upper && upper->protocol == kUdp && !upper->piece && upper->data.size() >= kUdpOctets) {
      anatomy.udp = frame.length - upper->data.size();
    }
    return anatomy;
  }
  const auto upper = anatomy.ip + (ip[0] & 15U) * std::size_t{4};
  const bool is_udp = ip[9] == kUdp && (read16(ip + 6) & 0x3fffU) == 0;
  if (is_udp && frame.length >= upper + kUdpOctets) anatomy.udp = upper;
  return anatomy;
}

}  // namespace natxy::gateway
