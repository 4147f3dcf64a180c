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
  std::size_t ip;
  std::size_t packet_end;
  std::optional<std::size_t> udp;  // absent unless the frame has a whole UDP datagram

  [[nodiscard]] std::size_t hop_limit() const { return ip + (is_ipv6 ? 7 : 8); }
  [[nodiscard]] std::size_t ip_length() const { return ip + (is_ipv6 ? 4 : 2); }
  [[nodiscard]] std::size_t source_end() const { return ip + (is_ipv6 ? 24 : 16); }
  [[nodiscard]] std::size_t destination_end() const { return ip + (is_ipv6 ? 40 : 20); }
  [[nodiscard]] std::size_t ip_checksum() const { return ip + 10; }
};

// Finds the fields of a frame; absent if it is not IP. The gateway made the frame, so its lengths
// are correct; an earlier fault may have changed its checksums.
[[nodiscard]] inline std::optional<Anatomy> dissect(const Frame& frame) {
  constexpr auto kIp = kEthernetOctets;
  const auto* ip = frame.octets + kIp;
  const auto type = read16(ip - 2);
  if (type != kTypeIpv4 && type != kTypeIpv6) return std::nullopt;
  Anatomy anatomy{.is_ipv6 = type == kTypeIpv6, .ip = kIp, .packet_end = frame.length, .udp = {}};
  const auto upper = kIp + (anatomy.is_ipv6 ? kIpv6Octets : (ip[0] & 15U) * std::size_t{4});
  const bool is_udp =
      anatomy.is_ipv6 ? ip[6] == kUdp : ip[9] == kUdp && (read16(ip + 6) & 0x3fffU) == 0;
  if (is_udp && frame.length >= upper + kUdpOctets) anatomy.udp = upper;
  return anatomy;
}

}  // namespace natxy::gateway
