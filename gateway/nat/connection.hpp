// A connection in the table: the inside endpoint, the remote endpoint and the external endpoint.
#pragma once

#include <cstdint>

#include "gateway/octets.hpp"

namespace natxy::gateway {

struct Ipv4Endpoint {
  std::uint32_t address = 0;
  std::uint16_t port = 0;
  std::uint8_t protocol = 0;  // of remote endpoints: kUdp or kTcp; else 0

  friend bool operator==(const Ipv4Endpoint&, const Ipv4Endpoint&) = default;
  [[nodiscard]] std::uint64_t number() const {
    return std::uint64_t{protocol} << 48U | std::uint64_t{address} << 16U | port;
  }
};

// An endpoint in IPv4 or IPv6; the owner of the table knows which. At an AFTR (RFC 6333, 6.6) it is
// an IPv4 endpoint behind a softwire, and `address` is the softwire's far end.
struct InsideEndpoint {
  Uint128 address = 0;
  std::uint16_t port = 0;
  std::uint32_t behind = 0;  // 0: no softwire

  friend bool operator==(const InsideEndpoint&, const InsideEndpoint&) = default;
};

struct Connection {
  InsideEndpoint inside;
  Ipv4Endpoint remote;    // with NAT64, the IPv4 address that is embedded in the IPv6 address
  Ipv4Endpoint external;  // the inside endpoint as seen from outside
};

// Mixes a value with MurmurHash3's finalizer: each input bit changes half of the output bits.
[[nodiscard]] inline std::uint64_t scramble(std::uint64_t value) {
  value = (value ^ value >> 33U) * 0xff51afd7ed558ccdU;
  value = (value ^ value >> 33U) * 0xc4ceb9fe1a85ec53U;
  return value ^ value >> 33U;
}

[[nodiscard]] inline std::uint64_t hash_of(const Ipv4Endpoint& endpoint) {
  return scramble(endpoint.number());
}

[[nodiscard]] inline std::uint64_t hash_of(const InsideEndpoint& endpoint) {
  const auto low = static_cast<std::uint64_t>(endpoint.address);
  const auto high = static_cast<std::uint64_t>(endpoint.address >> 64U);
  return scramble(scramble(low + endpoint.port * 0x9e3779b97f4a7c15U) + high + endpoint.behind);
}

template <typename Endpoint>
[[nodiscard]] std::uint64_t hash_of(const Endpoint& own, const Ipv4Endpoint& remote) {
  return scramble(hash_of(own) + remote.number());
}

}  // namespace natxy::gateway
