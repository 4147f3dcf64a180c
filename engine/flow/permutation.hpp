// A keyed permutation of 0..a*b-1: every combination of two ranges once, in pseudorandom order,
// with no table and O(1) at any start point (RFC 9693's unique pseudorandom enumeration).
#pragma once

#include <array>
#include <cstdint>

#include "flow/divider.hpp"
#include "flow/hash.hpp"

namespace natxy::flow {

struct Cell {
  std::uint64_t x;  // in [0, a)
  std::uint64_t y;  // in [0, b)
  friend constexpr bool operator==(Cell, Cell) = default;
};

// A Feistel network over Z_a x Z_b: each round adds a keyed function of one half to the other
// half, modulo that half's own range, so the domain is exact and no cycle walking is needed.
class Permutation {
 public:
  constexpr Permutation() : Permutation(1, 1, 0) {}
  constexpr Permutation(std::uint64_t a, std::uint64_t b, std::uint64_t key)
      : a_(a), b_(b), by_a_(a) {
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      keys_[round] = static_cast<std::uint32_t>(derive(key, round));
    }
  }

  // The cell of rank 0..a*b-1 in this permutation.
  [[nodiscard]] constexpr Cell at(std::uint64_t rank) const { return permuted(unpermuted(rank)); }

  // The cell of that rank in plain increasing order, x fastest.
  [[nodiscard]] constexpr Cell unpermuted(std::uint64_t rank) const {
    const auto [y, x] = by_a_.divide(rank);
    return {x, y};
  }

  // No branch and no 128-bit product: a loop over cells is vectorised.
  [[nodiscard]] constexpr Cell permuted(Cell cell) const {
    for (std::uint32_t round = 0; round < kRounds; round += 2) {
      cell.x = add(cell.x, scramble(cell.y, keys_[round], a_), a_);
      cell.y = add(cell.y, scramble(cell.x, keys_[round + 1], b_), b_);
    }
    return cell;
  }

  // The rank of that cell: the inverse of at().
  [[nodiscard]] constexpr std::uint64_t rank_of(Cell cell) const {
    return plain_rank_of(restored(cell));
  }
  // The inverse of unpermuted().
  [[nodiscard]] constexpr std::uint64_t plain_rank_of(Cell cell) const {
    return cell.y * a_ + cell.x;
  }
  // The inverse of permuted(): the rounds backwards.
  [[nodiscard]] constexpr Cell restored(Cell cell) const {
    for (std::uint32_t round = kRounds; round > 0; round -= 2) {
      cell.y = subtract(cell.y, scramble(cell.x, keys_[round - 1], b_), b_);
      cell.x = subtract(cell.x, scramble(cell.y, keys_[round - 2], a_), a_);
    }
    return cell;
  }

 private:
  static constexpr std::uint32_t kRounds = 4;

  // Mixes 32 bits (the multipliers and shifts are those of a well-spread 32-bit finaliser) and
  // scales them to the range.
  [[nodiscard]] static constexpr std::uint64_t scramble(std::uint64_t half, std::uint32_t key,
                                                        std::uint64_t range) {
    auto bits = static_cast<std::uint32_t>(half) ^ key;
    bits *= 0x7feb352dU;
    bits ^= bits >> 15U;
    bits *= 0x846ca68bU;
    bits ^= bits >> 16U;
    return (bits * range) >> 32U;
  }
  [[nodiscard]] static constexpr std::uint64_t add(std::uint64_t half, std::uint64_t addend,
                                                   std::uint64_t range) {
    const auto sum = half + addend;
    return sum >= range ? sum - range : sum;
  }
  [[nodiscard]] static constexpr std::uint64_t subtract(std::uint64_t half, std::uint64_t taken,
                                                        std::uint64_t range) {
    return half >= taken ? half - taken : half + range - taken;
  }

  std::uint64_t a_;  // up to 2^32 each
  std::uint64_t b_;
  Divider by_a_;
  std::array<std::uint32_t, kRounds> keys_{};
};

}  // namespace natxy::flow
