// A counter-based pseudorandom function. It has no state, can start at any point, and is repeatable
// from the seed.
#pragma once

#include <cstdint>

namespace natxy::flow {

// Mixes a counter into 64 well-spread bits (the finaliser of Steele et al., "Fast splittable
// pseudorandom number generators", OOPSLA 2014: two multiplications).
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30U;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27U;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

// Derives an independent key for each purpose from one seed.
[[nodiscard]] constexpr std::uint64_t derive(std::uint64_t seed, std::uint64_t purpose) {
  return mix(mix(seed) + (purpose + 1) * 0x9e3779b97f4a7c15ULL);
}

}  // namespace natxy::flow
