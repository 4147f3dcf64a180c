// The time that a fault goes by: the gateway's clock, or the tester's departures.
#pragma once

#include <algorithm>
#include <vector>

#include "gateway/faults/departure_clock.hpp"

namespace natxy::gateway {

class FaultTime {
 public:
  explicit FaultTime(const std::vector<DepartureSegment>& departures)
      : clock_(departures), is_departures_(!departures.empty()) {}

  // When the frame came, in this time, which does not go back; a frame without a number came with
  // the one before it.
  [[nodiscard]] Nanoseconds of(const Frame& frame, Nanoseconds now_ns) {
    if (!is_departures_) return now_ns;
    newest_ns_ = std::max(newest_ns_, clock_.at(frame).value_or(newest_ns_));
    return newest_ns_;
  }
  [[nodiscard]] bool is_departures() const { return is_departures_; }

 private:
  DepartureClock clock_;  // without segments where the gateway's clock counts
  bool is_departures_;
  Nanoseconds newest_ns_ = 0;
};

}  // namespace natxy::gateway
