// A log-linear histogram of durations in constant memory. The extremes are exact; the relative
// error of other values is at most 2^-kPrecision.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "run/buckets.hpp"
#include "run/clock.hpp"
#include "run/log_linear.hpp"

namespace natxy::run {

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
    Buckets found{.list = {},
                  .min = static_cast<double>(min()),
                  .max = static_cast<double>(max()),
                  .mean = mean()};
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] == 0) continue;
      found.list.push_back({.lower = static_cast<double>(Scheme::lower(i)),
                            .upper = static_cast<double>(Scheme::upper(i)),
                            .count = counts_[i]});
    }
    return found;
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
