// The time that a fault uses: the gateway's clock, or the departure times of the tester, computed
// from the number in a frame's data. No scheduler can disturb the latter.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "gateway/config.hpp"
#include "gateway/frame_store.hpp"

namespace natxy::gateway {

class FaultTime {
 public:
  // segments: the tester's schedule; empty: the gateway's clock is used.
  explicit FaultTime(std::vector<DepartureSegment> segments) : segments_(std::move(segments)) {}

  // Returns the frame's time, which never decreases. A frame without a number has the time of the
  // frame before it.
  [[nodiscard]] Nanoseconds of(const Frame& frame, Nanoseconds now_ns);
  [[nodiscard]] bool is_departures() const { return !segments_.empty(); }
  // Returns the time from the first departure to that of a number, rounded down. The last segment
  // has no end.
  [[nodiscard]] Nanoseconds departure_ns(std::uint64_t number) const;

 private:
  std::vector<DepartureSegment> segments_;
  Nanoseconds newest_ns_ = 0;
};

// Returns the number in the tester's stamp; absent if the frame is not a whole UDP datagram or TCP
// segment, or is too short.
[[nodiscard]] std::optional<std::uint64_t> number_of(const Frame& frame);

}  // namespace natxy::gateway
