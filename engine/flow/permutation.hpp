// A keyed permutation of 0..size-1: each rank once, in pseudorandom order, without a table and in
// O(1) for each rank (the unique pseudorandom enumeration of RFC 9693).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstdint>

namespace natxy::flow {

// A counter-based pseudorandom function. It has no state, can start at any point, and is repeatable
// from the seed.
//
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

// A Feistel network over the cells of a rectangle. Its width is 2^k with the smallest k >= 1 for
// which (2^k)^2 >= size; its height is the smallest that holds the size. Both halves are near the
// square root of the size, whatever its factors, so each round mixes well. Fewer than 2^k cells are
// beyond the size; a rank that reaches one of them goes through the network again (cycle walking).
class Permutation {
 public:
  constexpr Permutation() : Permutation(1, 0) {}
  constexpr Permutation(std::uint64_t size, std::uint64_t key)
      : last_(size - 1),
        width_bits_(std::max(1U, (static_cast<unsigned>(std::bit_width(size - 1)) + 1) / 2)),
        height_((last_ >> width_bits_) + 1) {
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      keys_[round] = static_cast<std::uint32_t>(derive(key, round));
    }
  }

  // Returns the permuted rank, 0..size-1.
  [[nodiscard]] constexpr std::uint64_t at(std::uint64_t rank) const {
    permute(&rank, 1);
    return rank;
  }

  // Permutes n ranks in place. For sizes up to 2^32, ranks of 32 bits suffice, and a vector holds
  // twice as many of them. If one rank must walk, all go through the network again, and the others
  // keep their values.
  template <std::unsigned_integral Rank>
  constexpr void permute(Rank* ranks, unsigned n) const {
    const auto last = static_cast<Rank>(last_);
    Rank highest = 0;
    for (unsigned i = 0; i < n; ++i) {
      ranks[i] = passed(ranks[i]);
      highest = std::max(highest, ranks[i]);
    }
    while (highest > last) [[unlikely]] {
      highest = 0;
      for (unsigned i = 0; i < n; ++i) {
        const auto next = passed(ranks[i]);
        ranks[i] = ranks[i] > last ? next : ranks[i];
        highest = std::max(highest, ranks[i]);
      }
    }
  }

  // The inverse of at().
  [[nodiscard]] constexpr std::uint64_t rank_of(std::uint64_t permuted) const {
    do {
      permuted = restored(permuted);
    } while (permuted > last_);
    return permuted;
  }

 private:
  static constexpr std::uint32_t kRounds = 4;

  // Passes a rank through the network once. Has no branch and no 128-bit product, so that a loop
  // over it is vectorised.
  template <std::unsigned_integral Rank>
  [[nodiscard]] constexpr Rank passed(Rank rank) const {
    auto x = static_cast<Rank>(rank & ((Rank{1} << width_bits_) - 1));
    auto y = static_cast<Rank>(rank >> width_bits_);
    const auto height = static_cast<Rank>(height_);
    for (std::uint32_t round = 0; round < kRounds; round += 2) {
      x ^= across(y, keys_[round]);
      const auto sum = static_cast<Rank>(y + upwards(x, keys_[round + 1]));
      y = std::min(sum, static_cast<Rank>(sum - height));  // wraps to a high value if sum < height
    }
    return static_cast<Rank>(y << width_bits_ | x);
  }
  // Reverses passed().
  [[nodiscard]] constexpr std::uint64_t restored(std::uint64_t rank) const {
    auto x = rank & ((std::uint64_t{1} << width_bits_) - 1);
    auto y = rank >> width_bits_;
    for (std::uint32_t round = kRounds; round > 0; round -= 2) {
      const auto taken = upwards(x, keys_[round - 1]);
      y = y >= taken ? y - taken : y + height_ - taken;
      x ^= across(y, keys_[round - 2]);
    }
    return y << width_bits_ | x;
  }

  // A keyed function of one half, scaled to the range of the other.
  [[nodiscard]] constexpr std::uint32_t across(std::uint64_t y, std::uint32_t key) const {
    return scramble(static_cast<std::uint32_t>(y), key) >> (32 - width_bits_);
  }
  template <std::unsigned_integral Rank>
  [[nodiscard]] constexpr Rank upwards(Rank x, std::uint32_t key) const {
    const std::uint64_t bits = scramble(static_cast<std::uint32_t>(x), key);
    return static_cast<Rank>((bits * static_cast<Rank>(height_)) >> 32U);
  }
  // Mixes 32 bits. The upper bits, which are used, are well distributed.
  [[nodiscard]] static constexpr std::uint32_t scramble(std::uint32_t half, std::uint32_t key) {
    auto bits = half ^ key;
    bits *= 0x7feb352dU;
    bits ^= bits >> 15U;
    return bits * 0x846ca68bU;
  }

  std::uint64_t last_;
  unsigned width_bits_;   // up to 32
  std::uint64_t height_;  // up to 2^32
  std::array<std::uint32_t, kRounds> keys_{};
};

}  // namespace natxy::flow
