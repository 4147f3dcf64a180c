// Histograms of durations, and the buckets that they count in.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "run/clock.hpp"

namespace natxy::run {

// Log-linear buckets (HdrHistogram's scheme). Each value below 2^(kPrecision + 1) has its own
// bucket; each octave above has 2^kPrecision buckets. So the width of a bucket is at most
// 2^-kPrecision of its values.
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

// The contents of a recorder of durations as a list of buckets.
struct Bucket {
  double lower = 0;  // ticks, signed; both ends included
  double upper = 0;
  std::uint64_t count = 0;
  [[nodiscard]] double middle() const { return (lower + upper) / 2; }
};

struct Buckets {
  std::vector<Bucket> list;  // ascending
  double min = 0;            // exact
  double max = 0;
  double mean = 0;

  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t total = 0;
    for (const auto& bucket : list) total += bucket.count;
    return total;
  }
  // Returns the smallest recorded value v with F(v) >= p (RFC 2330 11.3), to the resolution of the
  // buckets. The extremes are exact.
  [[nodiscard]] double percentile(double p) const {
    const auto total = count();
    if (total == 0) return 0;
    const auto rank = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::ceil(p * (1 - 1e-12) * static_cast<double>(total))));
    if (rank == 1) return min;
    if (rank >= total) return max;
    std::uint64_t seen = 0;
    for (const auto& bucket : list) {
      seen += bucket.count;
      if (seen >= rank) return std::clamp(bucket.middle(), min, max);
    }
    return max;
  }
};

// A log-linear histogram of durations in constant memory. The extremes are exact; the relative
// error of other values is at most 2^-kPrecision.
template <unsigned kPrecision>
class Histogram {
 public:
  static constexpr unsigned kMaxLot = 32;

  Histogram() : counts_(LogLinear<kPrecision>::kBuckets, 0) {}

  void record(Ticks value) {
    ++counts_[Scheme::bucket(value)];
    widen(value, value);
    sum_ += value;
  }

  // Records one value `times` times.
  void record(Ticks value, std::uint64_t times) {
    counts_[Scheme::bucket(value)] += times;
    widen(value, value);
    sum_ += Uint128{value} * times;
  }

  // Records n values at once, 1 <= n <= kMaxLot. All but the counting is vectorised.
  template <class Value>
  void record(const Value* values, unsigned n) {
    std::array<std::uint32_t, kMaxLot> buckets;
    Value least = values[0];
    Value most = values[0];
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < n; ++i) {
      buckets[i] = static_cast<std::uint32_t>(Scheme::bucket(values[i]));
      least = std::min(least, values[i]);
      most = std::max(most, values[i]);
      sum += values[i];
    }
    auto* counts = counts_.data();
    for (unsigned i = 0; i < n; ++i) ++counts[buckets[i]];
    widen(least, most);
    sum_ += sum;
  }

  void merge(const Histogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
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

  [[nodiscard]] double percentile(double p) const { return buckets().percentile(p); }

  [[nodiscard]] Buckets buckets() const {
    Buckets content{.list = {},
                    .min = static_cast<double>(min()),
                    .max = static_cast<double>(max()),
                    .mean = mean()};
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] == 0) continue;
      content.list.push_back({.lower = static_cast<double>(Scheme::lower(i)),
                              .upper = static_cast<double>(Scheme::upper(i)),
                              .count = counts_[i]});
    }
    return content;
  }

 private:
  using Scheme = LogLinear<kPrecision>;

  // New extremes are rare, so a branch costs less than two stores.
  void widen(Ticks least, Ticks most) {
    if (least < min_) [[unlikely]]
      min_ = least;
    if (most > max_) [[unlikely]]
      max_ = most;
  }

  std::vector<std::uint64_t> counts_;
  Ticks min_ = kNever;
  Ticks max_ = 0;
  Uint128 sum_ = 0;
};

// Gathers single durations, because a histogram records a lot of them at less cost than each by
// itself.
class Gathered {
 public:
  template <unsigned kPrecision>
  void record(Ticks value, std::uint64_t times, Histogram<kPrecision>& into) {
    if (times != 1 || value > ~std::uint32_t{0}) [[unlikely]] {
      into.record(value, times);
    } else {
      record(static_cast<std::uint32_t>(value), into);
    }
  }
  template <unsigned kPrecision>
  void record(std::uint32_t value, Histogram<kPrecision>& into) {
    values_[count_++] = value;
    if (count_ == values_.size()) [[unlikely]] {
      add_to(into);
      count_ = 0;
    }
  }
  // Adds what was gathered since the last lot.
  template <unsigned kPrecision>
  void add_to(Histogram<kPrecision>& histogram) const {
    if (count_ > 0) histogram.record(values_.data(), count_);
  }

 private:
  std::array<std::uint32_t, 32> values_{};
  unsigned count_ = 0;
};

}  // namespace natxy::run
