// The shortest delay among the first tenth of a stream's frames and among the last: only a queue
// that fills makes every delay longer, whatever else makes delays vary.
#pragma once

#include <algorithm>
#include <cstdint>

#include "run/clock.hpp"

namespace natxy::run {

class ShortestDelays {
 public:
  explicit ShortestDelays(std::uint64_t frames = 0) : tenth_(frames / 10), last_(frames - tenth_) {}

  // Frames that came, n of them, at least one; those in the middle cost two comparisons.
  void record(const std::uint64_t* numbers, const Ticks* delays, unsigned n) {
    if (numbers[0] < tenth_ || numbers[n - 1] >= last_) [[unlikely]]
      record_ends(numbers, delays, n);
  }

  // By how much a queue that fills at an even pace has made the last frame's delay longer than the
  // first one's. The last tenth's shortest delay has nine tenths of that. 0: none has, or there are
  // too few frames to tell.
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
  std::uint64_t last_;  // number from which on a frame is of the last tenth
  Ticks at_first_ = kNever;
  Ticks at_last_ = kNever;
};

}  // namespace natxy::run
