// What a receiver records of delays: their distribution, their variation from frame to frame, and
// the shortest ones.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "flow/divider.hpp"
#include "run/clock.hpp"
#include "run/histogram.hpp"

namespace natxy::run {

// Records delays in constant memory, with a resolution of 0.1 % of their distance from the smallest
// one.
//
// Packet delay variation is P99.9 - Dmin. A histogram of the delays themselves could not show that
// a delay of 100 ms varies by a microsecond. So the buckets divide the distance from a base, which
// is the smallest delay of the first lot. Buckets above the base are log-linear; in the kLinear
// ticks below it they are one tick wide. A delay below these begins a new epoch with a new base,
// and the buckets of the old epoch are kept as a list. No base is below the smallest delay, so each
// bucket is at most 2^-10 of its distance from the smallest delay wide (docs/decisions/0010).
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
    Buckets content{
        .list = past_,
        .min = static_cast<double>(min()),
        .max = static_cast<double>(max_),
        .mean = recorded_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(recorded_)};
    append_present(content.list);
    std::ranges::sort(content.list, {}, &Bucket::middle);
    return content;
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

// Records inter-packet delay variation: the signed differences D(i) - D(i-1) of frames with
// consecutive numbers (RFC 8219 7.3.2, RFC 5481 4.1), in whatever order they arrive.
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
    Buckets content{.list = {},
                    .min = recorded_ == 0 ? 0 : static_cast<double>(min_),
                    .max = recorded_ == 0 ? 0 : static_cast<double>(max_),
                    .mean = recorded_ == 0 ? 0 : static_cast<double>(sum_) / n};
    for (std::size_t i = Scheme::kBuckets; i-- > 0;) {
      if (falling_[i] > 0) {
        content.list.push_back({.lower = -static_cast<double>(Scheme::upper(i)),
                                .upper = -static_cast<double>(Scheme::lower(i)),
                                .count = falling_[i]});
      }
    }
    for (std::size_t i = 0; i < Scheme::kBuckets; ++i) {
      if (rising_[i] > 0) {
        content.list.push_back({.lower = static_cast<double>(Scheme::lower(i)),
                                .upper = static_cast<double>(Scheme::upper(i)),
                                .count = rising_[i]});
      }
    }
    return content;
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

// The shortest delay in each of several equal stretches of a stream's numbers. Only a queue that
// fills makes the shortest delay longer; other causes make delays vary.
class ShortestDelays {
 public:
  static constexpr std::uint64_t kMost = 320;  // stretches

  explicit ShortestDelays(std::uint64_t frames = 0)
      : width_(std::max<std::uint64_t>(1, (frames + kMost - 1) / kMost)),
        by_width_(width_),
        stretches_((frames + width_ - 1) / width_, kNever) {}

  // Records n >= 1 arrivals; least: the shortest of the delays. They cost two comparisons and a
  // minimum if the first one and the last one belong to the stretch of the arrivals before. All of
  // them then count as frames of this stretch, also a reordered one between them.
  void record(const std::uint64_t* numbers, const Ticks* delays, unsigned n, Ticks least) {
    if (numbers[0] - first_ >= width_ || numbers[n - 1] - first_ >= width_) [[unlikely]] {
      return record_each(numbers, delays, n);
    }
    stretches_[at_] = std::min(stretches_[at_], least);
  }

  // Adds what another receiver of the stream, or the other kind of its frames, has recorded.
  void merge(const ShortestDelays& other) {
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      stretches_[i] = std::min(stretches_[i], other.stretches_[i]);
    }
  }

  // Returns by how much a queue that fills at a constant rate has made the last frame's delay
  // longer than the first one's. The shortest delay of the last tenth has nine tenths of this
  // growth. Returns 0 if there is no growth, or if there are too few frames to tell.
  [[nodiscard]] double growth() const {
    const auto tenth = static_cast<std::ptrdiff_t>(stretches_.size() / 10);
    if (tenth == 0) return 0;
    const auto at_first = *std::min_element(stretches_.begin(), stretches_.begin() + tenth);
    const auto at_last = *std::min_element(stretches_.end() - tenth, stretches_.end());
    if (at_first == kNever || at_last == kNever || at_last <= at_first) return 0;
    return static_cast<double>(at_last - at_first) * 10 / 9;
  }

  // Returns the first number and the shortest delay of each stretch of which a frame arrived.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, Ticks>> list() const {
    std::vector<std::pair<std::uint64_t, Ticks>> content;
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      if (stretches_[i] != kNever) content.emplace_back(i * width_, stretches_[i]);
    }
    return content;
  }

 private:
  [[gnu::noinline]] void record_each(const std::uint64_t* numbers, const Ticks* delays,
                                     unsigned n) {
    for (unsigned i = 0; i < n; ++i) {
      at_ = by_width_.divide(numbers[i]).quotient;
      stretches_[at_] = std::min(stretches_[at_], delays[i]);
    }
    first_ = at_ * width_;
  }

  std::uint64_t width_;  // of a stretch, in numbers
  flow::Divider by_width_;
  std::uint64_t at_ = 0;     // the stretch of the last arrival
  std::uint64_t first_ = 0;  // its first number
  std::vector<Ticks> stretches_;
};

}  // namespace natxy::run
