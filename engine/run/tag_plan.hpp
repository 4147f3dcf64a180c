// Selects the frames that are tagged for latency, evenly spread (RFC 8219 7.2), and has what sender
// and receiver record of each. Whether a frame is tagged is a function of its number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "run/clock.hpp"
#include "run/schedule.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::run {

struct TagDeparture {
  std::uint64_t number = 0;
  Ticks leaving = 0;  // from the time in its stamp to the end of the send call
};

struct TagArrival {
  std::uint64_t number = 0;
  Ticks delay = 0;
  Ticks poll_gap = 0;  // 0 if the port stamps arrivals
};

// Makes room for n values, in pages that exist: a new page would delay the frames behind it.
template <class Value>
void room_for(std::vector<Value>& values, std::uint64_t n) {
  values.resize(n);
  values.clear();
}

// Of the `span` frames that are due from `after` on, tag k of `count` is frame
// first + floor(k * span / count), where span / count is cut to 24 binary places. If there are no
// more than `count` frames, all of them are tagged.
class TagPlan {
 public:
  TagPlan() = default;
  TagPlan(const Schedule& schedule, Ticks after, std::uint64_t count)
      : first_(first_due(schedule, after)) {
    const auto span = schedule.frames() - first_;
    count_ = std::min(count, span);
    if (count_ == 0) return;
    step_ = static_cast<std::uint64_t>((Uint128{span} << kFraction) / count_);
    // Computed from the cut step, not from span / count: for high numbers, the two are many tags
    // apart.
    tags_a_frame_ = static_cast<double>(1U << kFraction) / static_cast<double>(step_);
  }

  // Returns whether the frame is tagged. Avoids a division: only the tags next to the estimate can
  // be at this number.
  [[nodiscard]] bool holds(std::uint64_t number) const {
    if (number < first_) return false;
    const auto offset = number - first_;
    const auto estimate = static_cast<std::uint64_t>(static_cast<double>(offset) * tags_a_frame_);
    for (auto tag = estimate == 0 ? 0 : estimate - 1; tag <= estimate + 1; ++tag) {
      if (tag < count_ && offset_of(tag) == offset) return true;
    }
    return false;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t number(std::uint64_t tag) const { return first_ + offset_of(tag); }
  // Returns how many of the first `frames` frames are tagged.
  [[nodiscard]] std::uint64_t among(std::uint64_t frames) const {
    std::uint64_t low = 0;
    for (auto high = count_; low < high;) {
      const auto middle = low + (high - low) / 2;
      if (first_ + offset_of(middle) < frames) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

 private:
  static constexpr unsigned kFraction = 24;

  [[nodiscard]] std::uint64_t offset_of(std::uint64_t tag) const {
    return static_cast<std::uint64_t>((Uint128{step_} * tag) >> kFraction);
  }
  // Returns the smallest number that is due at `after` or later.
  static std::uint64_t first_due(const Schedule& schedule, Ticks after) {
    std::uint64_t low = 0;
    for (auto high = schedule.frames(); low < high;) {
      const auto middle = low + (high - low) / 2;
      if (schedule.due(middle) < after) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t step_ = 0;  // frames between two tags, in units of 2^-24
  double tags_a_frame_ = 0;
};

}  // namespace natxy::run
