// A connection as the table holds it: the inside four-tuple and the external endpoint.
#pragma once

#include <cstdint>

#include "gateway/octets.hpp"

namespace natxy::gateway {

struct Ipv4Endpoint {
  std::uint32_t address = 0;
  std::uint16_t port = 0;

  friend bool operator==(const Ipv4Endpoint&, const Ipv4Endpoint&) = default;
  [[nodiscard]] std::uint64_t number() const { return std::uint64_t{address} << 16U | port; }
};

// IPv4 or IPv6, which of them the table's owner knows.
struct InsideEndpoint {
  Uint128 address = 0;
  std::uint16_t port = 0;

  friend bool operator==(const InsideEndpoint&, const InsideEndpoint&) = default;
};

struct Connection {
  InsideEndpoint inside;
  Ipv4Endpoint remote;    // of NAT64 the address that the prefix's IPv6 address stands for
  Ipv4Endpoint external;  // what the inside endpoint looks like from outside
};

// MurmurHash3's finalizer: every bit of the input turns over half of the output's.
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
  return scramble(scramble(low + endpoint.port * 0x9e3779b97f4a7c15U) + high);
}

template <typename Endpoint>
[[nodiscard]] std::uint64_t hash_of(const Endpoint& own, const Ipv4Endpoint& remote) {
  return scramble(hash_of(own) + remote.number());
}

}  // namespace natxy::gateway
