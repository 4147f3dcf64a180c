// Log-linear buckets (HdrHistogram's scheme). Each value below 2^(kPrecision + 1) has its own
// bucket; each octave above has 2^kPrecision buckets. So the width of a bucket is at most
// 2^-kPrecision of its values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "run/clock.hpp"

namespace natxy::run {

template <unsigned kPrecision>
struct LogLinear {
  static constexpr Ticks kSub = Ticks{1} << kPrecision;
  static constexpr unsigned kMaxBits = 48;  // longer durations share the last bucket
  static constexpr std::size_t kBuckets = (kMaxBits + 1 - kPrecision) * kSub;

  // Returns the bucket of a value. Has no branch, so that a loop over values is vectorised.
  template <class Value>
  [[nodiscard]] static constexpr std::uint64_t bucket(Value value) {
    constexpr auto kWidth = std::numeric_limits<Value>::digits;
    if constexpr (kWidth > kMaxBits) value = std::min(value, (Value{1} << kMaxBits) - 1);
    const auto floor = static_cast<Value>(value | (2 * kSub - 1));
    const auto zeros = static_cast<unsigned>(std::countl_zero(floor));
    const auto shift = kWidth - zeros - (kPrecision + 1);
    return shift * kSub + (value >> shift);
  }
  // A bucket holds the values from lower to upper, both included.
  [[nodiscard]] static constexpr Ticks lower(std::size_t bucket) {
    const auto shift = shift_of(bucket);
    return (static_cast<Ticks>(bucket) - shift * kSub) << shift;
  }
  [[nodiscard]] static constexpr Ticks upper(std::size_t bucket) {
    return lower(bucket) + (Ticks{1} << shift_of(bucket)) - 1;
  }

 private:
  [[nodiscard]] static constexpr unsigned shift_of(std::size_t bucket) {
    return bucket < 2 * kSub ? 0 : static_cast<unsigned>(bucket >> kPrecision) - 1;
  }
};

}  // namespace natxy::run
