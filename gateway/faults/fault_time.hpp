// The time that a fault uses: the gateway's clock, or the departure times of the tester.
#pragma once

#include <algorithm>
#include <vector>

#include "gateway/faults/departure_clock.hpp"

namespace natxy::gateway {

class FaultTime {
 public:
  explicit FaultTime(const std::vector<DepartureSegment>& departures)
      : clock_(departures), is_departures_(!departures.empty()) {}

  // Returns the frame's time, which never decreases. A frame without a number has the time of the
  // frame before it.
  [[nodiscard]] Nanoseconds of(const Frame& frame, Nanoseconds now_ns) {
    if (!is_departures_) return now_ns;
    newest_ns_ = std::max(newest_ns_, clock_.at(frame).value_or(newest_ns_));
    return newest_ns_;
  }
  [[nodiscard]] bool is_departures() const { return is_departures_; }

 private:
  DepartureClock clock_;  // has no segments if the gateway's clock is used
  bool is_departures_;
  Nanoseconds newest_ns_ = 0;
};

}  // namespace natxy::gateway
