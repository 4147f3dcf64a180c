// A queue with a maximum number of frames, before a server or a link of a given rate. Computes when
// a frame that arrives now will have left, exactly for any rate. Keeps only the departure times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

#include "gateway/octets.hpp"

namespace natxy::gateway {

class DrainQueue {
 public:
  // depth: tokens of a bucket that refills at the rate and is full at the start. Each frame takes
  // one, and waits only if there is none (a shaper); 0: each frame takes its time on the link.
  DrainQueue(std::uint64_t frames, std::uint64_t drain_fps, std::uint64_t depth = 0)
      : frames_(frames), drain_fps_(drain_fps), credit_(duration(depth)) {}

  // Returns the departure time of a frame; absent if the queue is full. The frame that the link is
  // sending counts as in the queue. work: how many times as long as others the frame takes.
  [[nodiscard]] std::optional<Nanoseconds> departure(Nanoseconds now_ns, std::uint64_t work = 1) {
    while (!departures_ns_.empty() && departures_ns_.front() <= now_ns) departures_ns_.pop_front();
    if (departures_ns_.size() >= frames_) return std::nullopt;
    free_ = std::max(free_, Uint128{now_ns} * drain_fps_) + duration(work);
    departures_ns_.push_back(std::max(now_ns, rounded_up_ns(free_ - std::min(free_, credit_))));
    return departures_ns_.back();
  }

 private:
  // Times are in parts of 1 / drain_fps ns, of which a frame takes 1e9.
  [[nodiscard]] static Uint128 duration(std::uint64_t frames) {
    return Uint128{frames} * 1'000'000'000U;
  }
  [[nodiscard]] Nanoseconds rounded_up_ns(Uint128 parts) const {
    return static_cast<Nanoseconds>((parts + drain_fps_ - 1) / drain_fps_);
  }

  std::uint64_t frames_;
  std::uint64_t drain_fps_;
  Uint128 credit_;
  Uint128 free_ = 0;  // when the link will be free
  std::deque<Nanoseconds> departures_ns_;
};

}  // namespace natxy::gateway
