// Compares the shortest delay in the first tenth of a stream's frames with that in the last tenth.
// Only a queue that fills makes the shortest delay longer; other causes make delays vary.
#pragma once

#include <algorithm>
#include <cstdint>

#include "run/clock.hpp"

namespace natxy::run {

class ShortestDelays {
 public:
  explicit ShortestDelays(std::uint64_t frames = 0) : tenth_(frames / 10), last_(frames - tenth_) {}

  // Records n >= 1 arrivals. Frames in the middle of the stream cost two comparisons.
  void record(const std::uint64_t* numbers, const Ticks* delays, unsigned n) {
    if (numbers[0] < tenth_ || numbers[n - 1] >= last_) [[unlikely]]
      record_ends(numbers, delays, n);
  }

  // Adds what another receiver of the stream has recorded.
  void merge(const ShortestDelays& other) {
    at_first_ = std::min(at_first_, other.at_first_);
    at_last_ = std::min(at_last_, other.at_last_);
  }

  // Returns by how much a queue that fills at a constant rate has made the last frame's delay
  // longer than the first one's. The shortest delay of the last tenth has nine tenths of this
  // growth. Returns 0 if there is no growth, or if there are too few frames to tell.
  [[nodiscard]] double growth() const {
    if (at_first_ == kNever || at_last_ == kNever || at_last_ <= at_first_) return 0;
    return static_cast<double>(at_last_ - at_first_) * 10 / 9;
  }

 private:
  [[gnu::noinline]] void record_ends(const std::uint64_t* numbers, const Ticks* delays,
                                     unsigned n) {
    for (unsigned i = 0; i < n; ++i) {
      if (numbers[i] < tenth_) at_first_ = std::min(at_first_, delays[i]);
      if (numbers[i] >= last_) at_last_ = std::min(at_last_, delays[i]);
    }
  }

  std::uint64_t tenth_;
  std::uint64_t last_;  // first number of the last tenth
  Ticks at_first_ = kNever;
  Ticks at_last_ = kNever;
};

}  // namespace natxy::run
