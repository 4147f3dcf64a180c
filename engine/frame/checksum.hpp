// The Internet checksum (RFC 1071) as sums of 16-bit words in memory order. Such sums do not depend
// on the byte order of the machine, so no octets are swapped.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace natxy::frame {

template <class Word>
[[nodiscard]] inline Word load(const std::uint8_t* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

template <class Word>
inline void store(std::uint8_t* to, Word word) {
  std::memcpy(to, &word, sizeof word);
}

[[nodiscard]] constexpr std::uint16_t swap16(std::uint16_t word) {
  return static_cast<std::uint16_t>((word << 8U) | (word >> 8U));
}

// Folds a sum of words to 16 bits (end-around carry). A number plus itself with its halves
// exchanged has the sum of the halves in its upper half, with the carry of the lower half added.
[[nodiscard]] constexpr std::uint16_t fold(std::uint64_t sum) {
  const auto half = static_cast<std::uint32_t>((sum + std::rotl(sum, 32)) >> 32U);
  return static_cast<std::uint16_t>((half + std::rotl(half, 16)) >> 16U);
}

// Adds the two halves of a 64-bit load.
[[nodiscard]] constexpr std::uint64_t halves(std::uint64_t word) {
  return (word & 0xffffffffU) + (word >> 32U);
}

// Returns the sum of the 16-bit words of `size` octets; an odd last octet counts as if followed
// by 0.
[[nodiscard]] inline std::uint64_t sum_words(const std::uint8_t* octets, std::size_t size) {
  std::uint64_t sum = 0;
  for (; size >= 8; octets += 8, size -= 8) sum += halves(load<std::uint64_t>(octets));
  for (; size >= 2; octets += 2, size -= 2) sum += load<std::uint16_t>(octets);
  if (size == 1) {
    std::uint16_t last = 0;
    std::memcpy(&last, octets, 1);
    sum += last;
  }
  return sum;
}

// Returns whether the checksum of an IPv4 header without options is correct.
[[nodiscard]] inline bool ipv4_checksum_right(const std::uint8_t* ip) {
  const auto sum = halves(load<std::uint64_t>(ip)) + halves(load<std::uint64_t>(ip + 8)) +
                   load<std::uint32_t>(ip + 16);
  return fold(sum) == 0xffffU;
}

// Returns the UDP checksum of a folded sum. A checksum of 0 would mean "none", so its other
// representation, ffff, is sent (RFC 768).
[[nodiscard]] constexpr std::uint16_t udp_checksum(std::uint16_t folded) {
  return folded == 0xffffU ? std::uint16_t{0xffffU} : static_cast<std::uint16_t>(~folded);
}

}  // namespace natxy::frame
