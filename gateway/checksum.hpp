// The Internet checksum (RFC 1071) and its incremental update (RFC 1624).
#pragma once

#include <cstdint>

#include "gateway/address.hpp"
#include "gateway/octets.hpp"

namespace natxy::gateway {

// Returns a ones' complement sum that is not folded yet; such sums can be added.
[[nodiscard]] inline std::uint64_t sum_of(Octets octets) {
  std::uint64_t sum = 0;
  std::size_t i = 0;
  for (; i + 1 < octets.size(); i += 2) sum += read16(octets.data() + i);
  return i < octets.size() ? sum + (std::uint64_t{octets[i]} << 8U) : sum;
}

[[nodiscard]] inline std::uint64_t sum_of(const IpAddress& address) {
  std::uint64_t sum = 0;
  for (auto rest = address.value; rest != 0; rest >>= 16U) {
    sum += static_cast<std::uint64_t>(rest) & 0xffffU;
  }
  return sum;
}

[[nodiscard]] inline std::uint16_t fold(std::uint64_t sum) {
  while (sum > 0xffffU) sum = (sum & 0xffffU) + (sum >> 16U);
  return static_cast<std::uint16_t>(sum);
}

[[nodiscard]] inline std::uint16_t checksum_of(std::uint64_t sum) {
  return static_cast<std::uint16_t>(~fold(sum));
}

// Returns the checksum after a change of the data (RFC 1624, equation 3: HC' = ~(~HC + ~m + m')).
[[nodiscard]] inline std::uint16_t follow(std::uint16_t checksum, std::uint64_t removed,
                                          std::uint64_t added) {
  return checksum_of((0xffffU - checksum) + (0xffffU - fold(removed)) + std::uint64_t{fold(added)});
}

// Returns the checksum as UDP sends it: 0 would mean that there is none, so 0 is sent as 0xffff
// (RFC 768).
[[nodiscard]] inline std::uint16_t udp_form(std::uint16_t checksum) {
  return checksum == 0 ? 0xffffU : checksum;
}

}  // namespace natxy::gateway
