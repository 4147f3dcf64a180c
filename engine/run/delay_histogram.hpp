// Records delays in constant memory, with a resolution of 0.1 % of their distance from the smallest
// one.
//
// Packet delay variation is P99.9 - Dmin. A histogram of the delays themselves could not show that
// a delay of 100 ms varies by a microsecond. So the buckets divide the distance from a base, which
// is the smallest delay of the first lot. Buckets above the base are log-linear; in the kLinear
// ticks below it they are one tick wide. A delay below these begins a new epoch with a new base,
// and the buckets of the old epoch are kept as a list. No base is below the smallest delay, so each
// bucket is at most 2^-10 of its distance from the smallest delay wide (docs/decisions/0010).
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
  // Epochs serve queues that are long at the start and then empty. Delays that fall further after
  // the last epoch share wider buckets, whose bounds are correct.
  static constexpr std::size_t kMaxEpochs = 64;

  DelayHistogram() : counts_(kLinear + Scheme::kBuckets, 0) {}

  // Records n values at once, 1 <= n <= kMaxLot. Returns the smallest one.
  Ticks record(const Ticks* values, unsigned n) {
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
    return least;
  }

  // Adds the values of another recorder. Nothing may be recorded afterwards.
  void merge(const DelayHistogram& other) {
    past_.insert(past_.end(), other.past_.begin(), other.past_.end());
    other.append_present(past_);
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
    sum_ += other.sum_;
    recorded_ += other.recorded_;
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

  // Makes `least` the base. The origin may be below 0, because differences wrap around.
  [[gnu::noinline]] void rebase(Ticks least) {
    if (recorded_ > 0) {  // skipped for the first lot: a scan would delay the next frame
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

  std::vector<std::uint64_t> counts_;  // kLinear buckets of one tick, then the log-linear ones
  std::vector<Bucket> past_;           // buckets of the earlier epochs
  std::size_t epochs_ = 0;
  Ticks origin_ = 0;  // base - kLinear
  Ticks min_ = kNever;
  Ticks max_ = 0;
  Uint128 sum_ = 0;
  std::uint64_t recorded_ = 0;
};

}  // namespace natxy::run
