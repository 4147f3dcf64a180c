// When each frame of a stream is due, in ticks since the stream's start: exact for every number.
#pragma once

#include <cstdint>
#include <vector>

#include "run/clock.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::run {

// Frame i of an even rate is due at floor(i * hz / rate). With the period in units of 2^-76 ticks,
// rounded up, i * period >> 76 is exactly that: the error stays below 2^40 * 2^-76 ticks, and a
// due time's distance to the next whole tick is at least 1 / rate > 2^-36. Exact while the
// product's integer part stays below 2^52 ticks (a day at 52 GHz; a spec may ask for a day).
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

  // Valid for numbers below frames().
  [[nodiscard]] Ticks due(std::uint64_t number) const {
    const auto* part = parts_.data();
    while (number >= part->end) ++part;
    return part->start + part->period.at(number - part->first);
  }
  [[nodiscard]] std::uint64_t frames() const { return frames_; }
  // When the last segment's last period and pause are over.
  [[nodiscard]] Ticks end() const { return end_; }
  [[nodiscard]] std::uint64_t max_rate_fps() const { return max_rate_fps_; }

 private:
  friend class Cursor;
  struct Part {
    std::uint64_t first;
    std::uint64_t end;
    Ticks start;
    Period period;
  };
  std::vector<Part> parts_;  // none empty
  std::uint64_t frames_ = 0;
  std::uint64_t max_rate_fps_ = 0;
  Ticks end_ = 0;
};

// Walks through every stride-th number of a schedule by addition alone.
class Cursor {
 public:
  Cursor(const Schedule& schedule, std::uint64_t first, std::uint64_t stride)
      : schedule_(&schedule), number_(first), stride_(stride) {
    enter();
  }

  [[nodiscard]] bool done() const { return number_ >= schedule_->frames_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  // kNever where there is no frame left.
  [[nodiscard]] Ticks due() const {
    return start_ + static_cast<Ticks>(elapsed_ >> Period::kFraction);
  }
  void advance() {
    number_ += stride_;
    elapsed_ += step_;
    if (number_ >= end_) [[unlikely]]
      enter();
  }

 private:
  void enter() {
    while (part_ < schedule_->parts_.size() && number_ >= schedule_->parts_[part_].end) ++part_;
    if (part_ == schedule_->parts_.size()) {
      start_ = kNever;
      elapsed_ = step_ = 0;
      end_ = kNever;
      return;
    }
    const auto& part = schedule_->parts_[part_];
    start_ = part.start;
    end_ = part.end;
    step_ = part.period.step() * stride_;
    elapsed_ = part.period.step() * (number_ - part.first);
  }

  const Schedule* schedule_;
  std::size_t part_ = 0;
  std::uint64_t number_;
  std::uint64_t stride_;
  std::uint64_t end_ = 0;
  Ticks start_ = 0;
  Uint128 elapsed_ = 0;
  Uint128 step_ = 0;
};

}  // namespace natxy::run
