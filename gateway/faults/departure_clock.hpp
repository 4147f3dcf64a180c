// When the tester sent a frame, by the number in its data: a clock that no scheduler can disturb.
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

  // Since the first frame's departure; absent where the frame has no number.
  [[nodiscard]] std::optional<Nanoseconds> at(const Frame& frame) const;
  // Of the frame of that number, rounded down; the last segment goes on for ever.
  [[nodiscard]] Nanoseconds departure_ns(std::uint64_t number) const;

 private:
  std::vector<DepartureSegment> segments_;
};

// The number in the tester's data; absent where the frame is no whole UDP datagram or too short.
[[nodiscard]] std::optional<std::uint64_t> number_of(const Frame& frame);

}  // namespace natxy::gateway
