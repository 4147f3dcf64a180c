// Reads and writes numbers in network byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace natxy::gateway {

using Octets = std::span<const std::uint8_t>;
using Nanoseconds = std::uint64_t;

// Not in ISO C++; used for IPv6 addresses and for exact products.
__extension__ typedef unsigned __int128 Uint128;

[[nodiscard]] inline std::uint16_t read16(const std::uint8_t* from) {
  return static_cast<std::uint16_t>(from[0] << 8U | from[1]);
}

[[nodiscard]] inline std::uint32_t read32(const std::uint8_t* from) {
  return std::uint32_t{read16(from)} << 16U | read16(from + 2);
}

[[nodiscard]] inline std::uint64_t read64(const std::uint8_t* from) {
  return std::uint64_t{read32(from)} << 32U | read32(from + 4);
}

inline void write16(std::uint8_t* to, std::uint32_t value) {
  to[0] = static_cast<std::uint8_t>(value >> 8U);
  to[1] = static_cast<std::uint8_t>(value);
}

inline void write32(std::uint8_t* to, std::uint32_t value) {
  write16(to, value >> 16U);
  write16(to + 2, value & 0xffffU);
}

inline void write64(std::uint8_t* to, std::uint64_t value) {
  write32(to, static_cast<std::uint32_t>(value >> 32U));
  write32(to + 4, static_cast<std::uint32_t>(value));
}

}  // namespace natxy::gateway
