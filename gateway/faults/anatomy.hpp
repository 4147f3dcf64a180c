// The positions of fields in a frame that the gateway forwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "gateway/frame.hpp"
#include "gateway/packet.hpp"

namespace natxy::gateway {

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
