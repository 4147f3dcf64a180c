// Pseudorandom values that follow from a seed.
#pragma once

#include <cmath>
#include <cstdint>

#include "gateway/octets.hpp"

namespace natxy::gateway {

class Pseudorandom {
 public:
  explicit Pseudorandom(std::uint64_t seed) : state_(seed) {}

  // Returns a value in [lowest, highest], uniform to within 2^-64 of the range.
  [[nodiscard]] std::uint64_t uniform(std::uint64_t lowest, std::uint64_t highest) {
    const auto span = Uint128{highest - lowest} + 1;
    return lowest + static_cast<std::uint64_t>(next() * span >> 64U);
  }

  // Returns an exponentially distributed time, which is at most 37 times its mean.
  [[nodiscard]] Nanoseconds exponential(Nanoseconds mean_ns) {
    const auto above_0 = static_cast<double>((next() >> 11U) + 1) * 0x1p-53;
    return static_cast<Nanoseconds>(-std::log(above_0) * static_cast<double>(mean_ns));
  }

 private:
  // Returns a value of SplitMix64.
  [[nodiscard]] std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    auto mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ mixed >> 31U;
  }

  std::uint64_t state_;
};

}  // namespace natxy::gateway
