// Records inter-packet delay variation: the signed differences D(i) - D(i-1) of frames with
// consecutive numbers (RFC 8219 7.3.2, RFC 5481 4.1), in whatever order they arrive.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "run/buckets.hpp"
#include "run/clock.hpp"
#include "run/log_linear.hpp"

namespace natxy::run {

class DelayVariation {
 public:
  // A frame that arrives this many numbers after its predecessor or successor makes no pair with
  // it.
  static constexpr std::size_t kWindow = std::size_t{1} << 14U;

  DelayVariation()
      : window_(kWindow), rising_(Scheme::kBuckets, 0), falling_(Scheme::kBuckets, 0) {}

  // Records n delays. Each ordinal must be given once. The frame of a pair that arrives later
  // completes the pair.
  void record(const std::uint64_t* ordinals, const Ticks* delays, unsigned n) {
    for (unsigned i = 0; i < n; ++i) {
      const auto ordinal = ordinals[i];
      const auto delay = delays[i];
      at(ordinal) = {.after = ordinal + 1, .delay = delay};
      if (ordinal > 0 && at(ordinal - 1).after == ordinal) add(delay, at(ordinal - 1).delay);
      if (at(ordinal + 1).after == ordinal + 2) add(at(ordinal + 1).delay, delay);
    }
  }

  [[nodiscard]] std::uint64_t recorded() const { return recorded_; }

  [[nodiscard]] Buckets buckets() const {
    const auto n = static_cast<double>(recorded_);
    Buckets found{.list = {},
                  .min = recorded_ == 0 ? 0 : static_cast<double>(min_),
                  .max = recorded_ == 0 ? 0 : static_cast<double>(max_),
                  .mean = recorded_ == 0 ? 0 : static_cast<double>(sum_) / n};
    for (std::size_t i = Scheme::kBuckets; i-- > 0;) {
      if (falling_[i] > 0) {
        found.list.push_back({.lower = -static_cast<double>(Scheme::upper(i)),
                              .upper = -static_cast<double>(Scheme::lower(i)),
                              .count = falling_[i]});
      }
    }
    for (std::size_t i = 0; i < Scheme::kBuckets; ++i) {
      if (rising_[i] > 0) {
        found.list.push_back({.lower = static_cast<double>(Scheme::lower(i)),
                              .upper = static_cast<double>(Scheme::upper(i)),
                              .count = rising_[i]});
      }
    }
    return found;
  }

 private:
  using Scheme = LogLinear<10>;
  struct Slot {
    std::uint64_t after = 0;  // ordinal + 1; 0: empty slot
    Ticks delay = 0;
  };

  [[nodiscard]] Slot& at(std::uint64_t ordinal) { return window_[ordinal % kWindow]; }

  void add(Ticks delay, Ticks before) {
    const auto change = static_cast<std::int64_t>(delay - before);
    ++(change < 0 ? falling_
                  : rising_)[Scheme::bucket(change < 0 ? before - delay : delay - before)];
    min_ = std::min(min_, change);
    max_ = std::max(max_, change);
    sum_ += change;
    ++recorded_;
  }

  std::vector<Slot> window_;
  std::vector<std::uint64_t> rising_;
  std::vector<std::uint64_t> falling_;
  std::int64_t min_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t max_ = std::numeric_limits<std::int64_t>::min();
  __extension__ __int128 sum_ = 0;
  std::uint64_t recorded_ = 0;
};

}  // namespace natxy::run
