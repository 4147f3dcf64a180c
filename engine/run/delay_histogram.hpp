// Delays, to 0.1 % of their distance from the smallest one, in constant memory.
//
// A packet delay variation is P99.9 - Dmin: of a delay of 100 ms that varies by a microsecond, a
// histogram of the delays themselves would say nothing. So the buckets are those of the distance
// from a base, which is the smallest delay of the first lot: above it they are log-linear, in the
// kLinear ticks below it one tick wide. A delay further below begins a new epoch with a base of its
// own; what the old one held is kept as a list. Since no base lies below the smallest delay, no
// bucket is wider than 2^-10 of its distance from it (docs/decisions/0010).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "run/buckets.hpp"
#include "run/clock.hpp"
#include "run/log_linear.hpp"

namespace natxy::run {

class DelayHistogram {
 public:
  static constexpr unsigned kMaxLot = 32;
  static constexpr Ticks kLinear = Ticks{1} << 16U;
  // Epochs are for queues that were long at the start and emptied; a delay that falls on and on
  // shares a bucket with others then, whose bounds say so.
  static constexpr std::size_t kMaxEpochs = 64;

  DelayHistogram() : counts_(kLinear + Scheme::kBuckets, 0) {}

  // n values at once, 1 <= n <= kMaxLot.
  void record(const Ticks* values, unsigned n) {
    Ticks least = values[0];
    Ticks most = values[0];
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < n; ++i) {
      least = std::min(least, values[i]);
      most = std::max(most, values[i]);
      sum += values[i];
    }
    if (below(least)) [[unlikely]]
      rebase(least);
    count(values, n);
    min_ = std::min(min_, least);
    max_ = std::max(max_, most);
    sum_ += sum;
    recorded_ += n;
  }

  [[nodiscard]] std::uint64_t recorded() const { return recorded_; }

  [[nodiscard]] Ticks min() const { return recorded_ == 0 ? 0 : min_; }

  [[nodiscard]] Buckets buckets() const {
    Buckets found{
        .list = past_,
        .min = static_cast<double>(min()),
        .max = static_cast<double>(max_),
        .mean = recorded_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(recorded_)};
    append_present(found.list);
    std::ranges::sort(found.list, {}, &Bucket::middle);
    return found;
  }

 private:
  using Scheme = LogLinear<10>;

  [[nodiscard]] bool below(Ticks value) const {
    return recorded_ == 0 || static_cast<std::int64_t>(value - origin_) < 0;
  }

  void count(const Ticks* values, unsigned n) {
    std::array<std::uint32_t, kMaxLot> buckets;
    for (unsigned i = 0; i < n; ++i) {
      const auto offset = values[i] - origin_;
      const auto above = kLinear + Scheme::bucket(offset < kLinear ? 0 : offset - kLinear);
      buckets[i] = static_cast<std::uint32_t>(offset < kLinear ? offset : above);
    }
    auto* counts = counts_.data();
    for (unsigned i = 0; i < n; ++i) ++counts[buckets[i]];
  }

  // The base is `least` from now on. Its origin may lie below 0: differences wrap.
  [[gnu::noinline]] void rebase(Ticks least) {
    if (recorded_ > 0) {  // else there is none, and to look would keep the next frame waiting
      append_present(past_);
      std::ranges::fill(counts_, 0);
    }
    const auto last = ++epochs_ >= kMaxEpochs;
    origin_ = last ? 0 : least - kLinear;
  }

  void append_present(std::vector<Bucket>& list) const {
    const auto lowest = static_cast<double>(static_cast<std::int64_t>(origin_));
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] == 0) continue;
      const auto above = i >= kLinear;
      const auto from = above ? kLinear + Scheme::lower(i - kLinear) : i;
      const auto to = above ? kLinear + Scheme::upper(i - kLinear) : i;
      list.push_back({.lower = lowest + static_cast<double>(from),
                      .upper = lowest + static_cast<double>(to),
                      .count = counts_[i]});
    }
  }

  std::vector<std::uint64_t> counts_;  // kLinear buckets of a tick, then the log-linear ones
  std::vector<Bucket> past_;           // of the epochs before
  std::size_t epochs_ = 0;
  Ticks origin_ = 0;  // kLinear below the base
  Ticks min_ = kNever;
  Ticks max_ = 0;
  Uint128 sum_ = 0;
  std::uint64_t recorded_ = 0;
};

}  // namespace natxy::run
