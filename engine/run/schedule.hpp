// The due time of each frame of a stream, in ticks since the stream's start, exact for each number;
// the kind of each frame; and the frames that are tagged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "flow/divider.hpp"
#include "run/clock.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::run {

// The period of a constant rate, at which frame i is due at floor(i * hz / rate). With the period
// in units of 2^-76 ticks, rounded up, i * period >> 76 is exactly this value: the error is below
// 2^40 * 2^-76 ticks, and the distance of a due time to the next whole tick is at least
// 1 / rate > 2^-36. This is exact while the integer part of the product is below 2^52 ticks (a day
// at 52 GHz; a trial may last a day).
class Period {
 public:
  constexpr Period() = default;
  constexpr Period(std::uint64_t rate_fps, TickRate ticks)
      : step_(((Uint128{ticks.hz()} << kFraction) + rate_fps - 1) / rate_fps) {}
  [[nodiscard]] constexpr Ticks at(std::uint64_t index) const {
    return static_cast<Ticks>((step_ * index) >> kFraction);
  }
  [[nodiscard]] constexpr Uint128 step() const { return step_; }
  static constexpr unsigned kFraction = 76;

 private:
  Uint128 step_ = 0;
};

class Schedule {
 public:
  Schedule(const std::vector<spec::Segment>& segments, TickRate ticks);

  // Returns the due time of a frame; number < frames(). The receiver calls it for each frame, so
  // bursts must not slow down steady parts.
  [[nodiscard]] Ticks due(std::uint64_t number) const {
    const auto* part = parts_.data();
    while (number >= part->steady_end) {
      if (number < part->end) return part->due_in_burst(number);
      ++part;
    }
    return part->start + part->period.at(number - part->first);
  }
  [[nodiscard]] std::uint64_t frames() const { return frames_; }
  // Returns when the last period and the pause of the last segment are over.
  [[nodiscard]] Ticks end() const { return end_; }
  // Returns the highest rate of a segment; for bursts, this is the mean rate.
  [[nodiscard]] std::uint64_t max_rate_fps() const { return max_rate_fps_; }
  // Return the shortest and the longest burst in frames; without bursts, the highest 64-bit number
  // and 0.
  [[nodiscard]] std::uint64_t shortest_burst() const { return shortest_burst_; }
  [[nodiscard]] std::uint64_t longest_burst() const { return longest_burst_; }

 private:
  friend class Cursor;
  // A segment, which is a series of bursts. A steady part is one burst as long as the part, at the
  // part's rate.
  struct Part {
    std::uint64_t first;
    std::uint64_t end;
    std::uint64_t steady_end;  // 0 if the part has several bursts
    std::uint64_t burst;       // frames of each burst; the last one may have fewer
    Ticks start;
    Period period;        // of the mean rate, at which the bursts' first frames are due
    Period burst_period;  // within a burst
    flow::Divider by_burst;

    [[nodiscard]] Ticks due_in_burst(std::uint64_t number) const {
      const auto index = number - first;
      const auto in_burst = by_burst.divide(index).remainder;
      return start + period.at(index - in_burst) + burst_period.at(in_burst);
    }
  };
  std::vector<Part> parts_;  // each has at least one frame
  std::uint64_t frames_ = 0;
  std::uint64_t max_rate_fps_ = 0;
  std::uint64_t shortest_burst_ = ~std::uint64_t{0};
  std::uint64_t longest_burst_ = 0;
  Ticks end_ = 0;
};

// Visits every stride-th number of a schedule, using only additions.
class Cursor {
 public:
  Cursor(const Schedule& schedule, std::uint64_t first, std::uint64_t stride)
      : schedule_(&schedule), number_(first), stride_(stride) {
    enter();
  }

  [[nodiscard]] bool done() const { return end_ == kNever; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  // Returns the due time of the current number; kNever after the last frame.
  [[nodiscard]] Ticks due() const {
    return start_ + static_cast<Ticks>(elapsed_ >> Period::kFraction);
  }
  // Returns the due time of the number after the current one.
  [[nodiscard]] Ticks next_due() const {
    if (number_ + stride_ < end_) [[likely]]
      return start_ + static_cast<Ticks>((elapsed_ + step_) >> Period::kFraction);
    auto next = *this;
    next.advance();
    return next.due();
  }
  void advance() {
    number_ += stride_;
    elapsed_ += step_;
    if (number_ >= end_) [[unlikely]]
      enter();
  }

 private:
  // Enters the next burst or the next part; a steady part is entered once.
  void enter() {
    const auto& parts = schedule_->parts_;
    while (part_ < parts.size() && number_ >= parts[part_].end) end_ = parts[part_++].end;
    if (part_ == parts.size()) {
      start_ = kNever;
      elapsed_ = step_ = 0;
      end_ = kNever;
      return;
    }
    const auto& part = parts[part_];
    while (number_ >= end_) end_ += part.burst;  // a stride skips few bursts
    const auto first = end_ - part.burst;
    start_ = part.start + part.period.at(first - part.first);
    step_ = part.burst_period.step() * stride_;
    elapsed_ = part.burst_period.step() * (number_ - first);
    end_ = std::min(end_, part.end);
  }

  const Schedule* schedule_;
  std::size_t part_ = 0;
  std::uint64_t number_;
  std::uint64_t stride_;
  std::uint64_t end_ = 0;  // end of the current burst
  Ticks start_ = 0;        // start of the current burst
  Uint128 elapsed_ = 0;
  Uint128 step_ = 0;
};

// Determines the kind of a frame and its ordinal within the kind: frame i is foreground iff
// i mod n < m (the mixes of RFC 8219 5.3 as n and m), or as spec::Mix says for an even mix.
struct Place {
  spec::Kind kind;
  std::uint64_t ordinal;
};

class Mix {
 public:
  explicit Mix(spec::Mix mix) : by_n_(mix.n), m_(mix.m), even_(mix.even && mix.m > 0) {}

  [[nodiscard]] Place at(std::uint64_t number) const {
    if (even_) [[unlikely]]
      return evenly(number);
    const auto [quotient, remainder] = by_n_.divide(number);
    if (remainder < m_) return {spec::Kind::kForeground, quotient * m_ + remainder};
    return {spec::Kind::kBackground, quotient * (by_n_.divisor() - m_) + remainder - m_};
  }
  // Returns whether both kinds occur.
  [[nodiscard]] bool mixed() const { return m_ > 0 && m_ < by_n_.divisor(); }
  [[nodiscard]] spec::Kind only() const {
    return m_ > 0 ? spec::Kind::kForeground : spec::Kind::kBackground;
  }
  // Returns how many of the first `frames` frames are of this kind.
  [[nodiscard]] std::uint64_t count(spec::Kind kind, std::uint64_t frames) const {
    const auto [quotient, remainder] = by_n_.divide(frames);
    const auto foreground =
        even_ ? evenly_before(frames).ordinal : quotient * m_ + (remainder < m_ ? remainder : m_);
    return kind == spec::Kind::kForeground ? foreground : frames - foreground;
  }

 private:
  // A frame of an even mix: its foreground ordinal, if it is foreground.
  struct Even {
    std::uint64_t ordinal;  // ceil(number m / n): how many foreground frames there are before it
    bool foreground;
  };

  // The product is below 2^56: a stream has fewer than 2^40 frames.
  [[nodiscard]] Even evenly_before(std::uint64_t number) const {
    const auto [quotient, remainder] = by_n_.divide(number * m_);
    return {.ordinal = quotient + (remainder > 0 ? 1 : 0),
            .foreground = remainder == 0 || remainder + m_ > by_n_.divisor()};
  }
  [[nodiscard]] Place evenly(std::uint64_t number) const {
    const auto [ordinal, foreground] = evenly_before(number);
    if (foreground) return {spec::Kind::kForeground, ordinal};
    return {spec::Kind::kBackground, number - ordinal};
  }

  flow::Divider by_n_;
  std::uint64_t m_;
  bool even_;
};

// What the sender records of each frame that is tagged for latency (RFC 8219 7.2), and what the
// receiver does.
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

// Selects the tagged frames, evenly spread. Whether a frame is tagged is a function of its number.
//
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
