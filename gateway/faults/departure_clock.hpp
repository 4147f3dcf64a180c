// Computes when the tester sent a frame from the number in its data. No scheduler can disturb this
// clock.
#pragma once

#include <optional>
#include <vector>

#include "gateway/config.hpp"
#include "gateway/frame_store.hpp"

namespace natxy::gateway {

class DepartureClock {
 public:
  explicit DepartureClock(std::vector<DepartureSegment> segments)
      : segments_(std::move(segments)) {}

  // Returns a frame's departure time since the first departure; absent if it has no number.
  [[nodiscard]] std::optional<Nanoseconds> at(const Frame& frame) const;
  // Returns the departure time of a number, rounded down. The last segment has no end.
  [[nodiscard]] Nanoseconds departure_ns(std::uint64_t number) const;

 private:
  std::vector<DepartureSegment> segments_;
};

// Returns the number in the tester's stamp; absent if the frame is not a whole UDP datagram or TCP
// segment, or is too short.
[[nodiscard]] std::optional<std::uint64_t> number_of(const Frame& frame);

}  // namespace natxy::gateway
