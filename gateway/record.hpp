// The record of what the gateway did since it was configured or the record was cleared.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "gateway/config.hpp"
#include "gateway/frame.hpp"
#include "gateway/nat/nat_config.hpp"
#include "gateway/octets.hpp"

namespace natxy::gateway {

// The times in which the gateway did not poll its ports, in a bounded list.
class Absences {
 public:
  struct Interval {
    Nanoseconds from_ns;
    Nanoseconds until_ns;

    friend bool operator==(const Interval&, const Interval&) = default;
  };
  static constexpr std::size_t kMost = 4096;

  Absences() { intervals_.reserve(kMost + 1); }

  // Adds an interval that begins at the end of the last one, or later. If there are too many, the
  // two neighbours with the shortest time between them become one.
  void add(const Interval& interval) {
    intervals_.push_back(interval);
    if (intervals_.size() > kMost) join_nearest();
  }

  [[nodiscard]] std::span<const Interval> intervals() const { return intervals_; }

 private:
  void join_nearest() {
    auto nearest = intervals_.begin();
    for (auto at = nearest; std::next(at) != intervals_.end(); ++at) {
      if (time_after(at) < time_after(nearest)) nearest = at;
    }
    nearest->until_ns = std::next(nearest)->until_ns;
    intervals_.erase(std::next(nearest));
  }
  static Nanoseconds time_after(std::vector<Interval>::const_iterator at) {
    return std::next(at)->from_ns - at->until_ns;
  }

  std::vector<Interval> intervals_;
};

// A histogram with exact count, minimum and maximum, and percentiles to within 0.1 %.
// Each value below 2048 has its own bucket; above, each power of two has 1024 buckets.
class Histogram {
 public:
  Histogram() : counts_(kBuckets) {}

  void add(std::uint64_t value) {
    ++counts_[bucket_of(std::min(value, kLargest))];
    ++count_;
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }

  void clear() {
    std::ranges::fill(counts_, 0);
    count_ = 0;
    min_ = UINT64_MAX;
    max_ = 0;
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t min() const { return count_ == 0 ? 0 : min_; }
  [[nodiscard]] std::uint64_t max() const { return max_; }

  // Returns the smallest value v so that at least permille / 1000 of all values are at most v (RFC
  // 2330, 11.3), as the middle of its bucket; 0 if there are no values.
  [[nodiscard]] std::uint64_t percentile(std::uint64_t permille) const {
    if (count_ == 0) return 0;
    const auto rank = std::max<std::uint64_t>(1, (count_ * permille + 999) / 1000);
    std::uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
      seen += counts_[bucket];
      if (seen >= rank) return std::clamp(middle_of(bucket), min_, max_);
    }
    return max_;
  }

 private:
  static constexpr unsigned kFineBits = 10;
  static constexpr std::uint64_t kFine = 1U << kFineBits;
  static constexpr unsigned kLargestBits = 42;  // 73 minutes of nanoseconds
  static constexpr std::uint64_t kLargest = (std::uint64_t{1} << kLargestBits) - 1;
  static constexpr std::size_t kBuckets = (kLargestBits - kFineBits + 1) * kFine;

  [[nodiscard]] static std::size_t bucket_of(std::uint64_t value) {
    if (value < 2 * kFine) return value;
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - kFineBits - 1;
    return shift * kFine + (value >> shift);
  }
  [[nodiscard]] static std::uint64_t middle_of(std::size_t bucket) {
    if (bucket < 2 * kFine) return bucket;
    const auto shift = bucket / kFine - 1;
    const auto lowest = (bucket - shift * kFine) << shift;
    return lowest + ((std::uint64_t{1} << shift) - 1) / 2;
  }

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
};

// The record of the fault `sulk`. Times are since the record's start; if the fault uses departure
// times, since the first departure.
struct SulkRecord {
  Nanoseconds newest_overload_ns = 0;
  Nanoseconds last_drop_ns = 0;
  std::uint64_t last_number = 0;  // of the frame that was dropped last, if it has a number
};

struct DirectionRecord {
  std::uint64_t received = 0;  // frames to be forwarded, including dropped ones
  std::uint64_t forwarded = 0;
  std::array<std::uint64_t, kDropNames.size()> dropped{};  // by Drop
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::array<std::uint64_t, kCorruptFieldNames.size()> corrupted{};  // by CorruptField
  SulkRecord sulk;
  Histogram delay_ns;

  void clear() {
    sulk = {};
    received = forwarded = duplicated = reordered = 0;
    dropped.fill(0);
    corrupted.fill(0);
    delay_ns.clear();
  }
  void count(Drop drop) { ++dropped[index_of(drop)]; }
};

class PollRecord {
 public:
  static constexpr Nanoseconds kAwayNs = 100'000;

  PollRecord(Nanoseconds since_ns, Nanoseconds idle_ns) : since_ns_(since_ns), idle_ns_(idle_ns) {}

  // Counts a poll. frames_came: the receive calls before this poll found frames. The first poll has
  // no gap before it, so that the time of a clear does not count.
  void poll(Nanoseconds now_ns, bool frames_came) {
    const auto away_ns = end_gap(now_ns);
    ++polls_;
    if (frames_came) away_ns_ += unmet_away_ns_ + away_ns;
    unmet_away_ns_ = frames_came ? 0 : away_ns;
  }

  // Notes that the loop sleeps from now on. The next gap begins when it should wake up.
  void sleep(Nanoseconds now_ns, Nanoseconds until_ns) {
    unmet_away_ns_ += end_gap(now_ns);
    last_ns_ = until_ns;
  }

  [[nodiscard]] Nanoseconds since_ns() const { return since_ns_; }
  [[nodiscard]] Nanoseconds worst_gap_ns() const { return worst_gap_ns_; }
  // Returns the total of the gaps longer than kAwayNs during which frames waited. These frames are
  // found by the receive calls before the poll, or, if the gap came after those calls, before the
  // next poll.
  [[nodiscard]] Nanoseconds away_ns() const { return away_ns_; }
  // Returns the gaps longer than kAwayNs, whether or not frames waited.
  [[nodiscard]] const Absences& absences() const { return absences_; }
  [[nodiscard]] std::uint64_t gaps_over_idle() const { return gaps_over_idle_; }
  [[nodiscard]] std::uint64_t polls() const { return polls_; }

 private:
  // Ends the gap since the last poll or sleep. Returns its length if it is an absence, else 0.
  Nanoseconds end_gap(Nanoseconds now_ns) {
    const auto gap_ns = polls_ == 0 || now_ns < last_ns_ ? 0 : now_ns - last_ns_;
    last_ns_ = now_ns;
    worst_gap_ns_ = std::max(worst_gap_ns_, gap_ns);
    if (idle_ns_ != 0 && gap_ns > idle_ns_) ++gaps_over_idle_;
    if (gap_ns <= kAwayNs) return 0;
    absences_.add({.from_ns = now_ns - gap_ns, .until_ns = now_ns});
    return gap_ns;
  }

  Nanoseconds since_ns_;
  Nanoseconds last_ns_ = 0;  // the last poll, or the end of the sleep after it
  Nanoseconds idle_ns_;
  Nanoseconds worst_gap_ns_ = 0;
  Nanoseconds away_ns_ = 0;
  Nanoseconds unmet_away_ns_ = 0;  // the gap before the last poll, if no frame waited yet
  Absences absences_;
  std::uint64_t gaps_over_idle_ = 0;
  std::uint64_t polls_ = 0;
};

struct Record {
  std::array<DirectionRecord, 2> directions;  // by Direction
  PollRecord polls;
  Nanoseconds taken_ns = 0;  // when this copy was made
  Nanoseconds muted_ns = 0;  // total time of the mute requests
  std::optional<NatRecord> nat = std::nullopt;

  [[nodiscard]] const DirectionRecord& of(Direction direction) const {
    return directions[index_of(direction)];
  }
};

}  // namespace natxy::gateway
