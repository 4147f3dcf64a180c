// A queue with a maximum number of frames, before a link of a given rate. Computes when a frame
// that arrives now will have left, exactly for any rate. Keeps only the departure times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

#include "gateway/octets.hpp"

namespace natxy::gateway {

class DrainQueue {
 public:
  DrainQueue(std::uint64_t frames, std::uint64_t drain_fps)
      : frames_(frames), drain_fps_(drain_fps) {}

  // Returns the departure time of a frame; absent if the queue is full. The frame that the link is
  // sending counts as in the queue.
  [[nodiscard]] std::optional<Nanoseconds> departure(Nanoseconds now_ns) {
    while (!departures_ns_.empty() && departures_ns_.front() <= now_ns) departures_ns_.pop_front();
    if (departures_ns_.size() >= frames_) return std::nullopt;
    if (free_ns_ < now_ns) {
      free_ns_ = now_ns;
      free_parts_ = 0;
    }
    occupy_link();
    departures_ns_.push_back(free_ns_ + (free_parts_ != 0 ? 1 : 0));
    return departures_ns_.back();
  }

 private:
  // A frame takes 1e9 / drain_fps ns; the remainder is carried in parts of 1 / drain_fps ns.
  void occupy_link() {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    free_ns_ += kSecond / drain_fps_;
    free_parts_ += kSecond % drain_fps_;
    if (free_parts_ >= drain_fps_) {
      free_parts_ -= drain_fps_;
      ++free_ns_;
    }
  }

  std::uint64_t frames_;
  std::uint64_t drain_fps_;
  Nanoseconds free_ns_ = 0;
  std::uint64_t free_parts_ = 0;
  std::deque<Nanoseconds> departures_ns_;
};

}  // namespace natxy::gateway
