// A log-linear histogram of durations: constant memory, exact extremes, a relative error of at
// most 2^-kPrecision in between (HdrHistogram's scheme).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "run/clock.hpp"

namespace natxy::run {

template <unsigned kPrecision>
class Histogram {
 public:
  static constexpr unsigned kMaxLot = 32;

  Histogram() : counts_(kBuckets, 0) {}

  void record(Ticks value) {
    ++counts_[bucket(value)];
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
    sum_ += value;
  }

  // n values at once, 1 <= n <= kMaxLot: all but the counting is vectorised.
  template <class Value>
  void record(const Value* values, unsigned n) {
    std::array<std::uint32_t, kMaxLot> buckets;
    Value least = values[0];
    Value most = values[0];
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < n; ++i) {
      buckets[i] = static_cast<std::uint32_t>(bucket(values[i]));
      least = std::min(least, values[i]);
      most = std::max(most, values[i]);
      sum += values[i];
    }
    auto* counts = counts_.data();
    for (unsigned i = 0; i < n; ++i) ++counts[buckets[i]];
    min_ = std::min<Ticks>(min_, least);
    max_ = std::max<Ticks>(max_, most);
    sum_ += sum;
  }

  void merge(const Histogram& other) {
    for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
    sum_ += other.sum_;
  }

  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t total = 0;
    for (const auto times : counts_) total += times;
    return total;
  }
  [[nodiscard]] Ticks min() const { return min_ == kNever ? 0 : min_; }
  [[nodiscard]] Ticks max() const { return max_; }
  [[nodiscard]] double mean() const {
    const auto n = count();
    return n == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(n);
  }

  // The smallest recorded value v with F(v) >= p (RFC 2330 11.3), to the bucket's resolution and
  // never outside [min, max].
  [[nodiscard]] double percentile(double p) const {
    const auto total = count();
    if (total == 0) return 0;
    const auto wanted = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::ceil(p * static_cast<double>(total))));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < kBuckets; ++i) {
      seen += counts_[i];
      if (seen >= wanted) return clamp(middle(i));
    }
    return static_cast<double>(max());
  }

  template <class Visitor>
  void for_each(Visitor&& visit) const {  // (lower bound in ticks, count), ascending
    for (std::size_t i = 0; i < kBuckets; ++i) {
      if (counts_[i] > 0) visit(lower(i), counts_[i]);
    }
  }

 private:
  static constexpr Ticks kSub = Ticks{1} << kPrecision;
  static constexpr unsigned kMaxBits = 48;  // longer durations share the last bucket
  static constexpr std::size_t kBuckets = (kMaxBits + 1 - kPrecision) * kSub;

  // Values below 2 * kSub have a bucket each; each octave above has kSub buckets.
  template <class Value>
  [[nodiscard]] static constexpr std::uint64_t bucket(Value value) {
    constexpr auto kWidth = std::numeric_limits<Value>::digits;
    if constexpr (kWidth > kMaxBits) value = std::min(value, (Value{1} << kMaxBits) - 1);
    const auto floor = static_cast<Value>(value | (2 * kSub - 1));
    const auto zeros = static_cast<unsigned>(std::countl_zero(floor));
    const auto shift = kWidth - zeros - (kPrecision + 1);
    return shift * kSub + (value >> shift);
  }
  [[nodiscard]] static constexpr unsigned shift_of(std::size_t index) {
    return index < 2 * kSub ? 0 : static_cast<unsigned>(index >> kPrecision) - 1;
  }
  [[nodiscard]] static constexpr Ticks lower(std::size_t index) {
    const auto shift = shift_of(index);
    return (static_cast<Ticks>(index) - shift * kSub) << shift;
  }
  [[nodiscard]] static constexpr double middle(std::size_t index) {
    return static_cast<double>(lower(index)) +
           static_cast<double>((Ticks{1} << shift_of(index)) - 1) / 2;
  }
  [[nodiscard]] double clamp(double value) const {
    return std::clamp(value, static_cast<double>(min()), static_cast<double>(max()));
  }

  std::vector<std::uint64_t> counts_;
  Ticks min_ = kNever;
  Ticks max_ = 0;
  Uint128 sum_ = 0;
};

}  // namespace natxy::run
