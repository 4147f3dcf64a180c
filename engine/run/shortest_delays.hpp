// The shortest delay in each of several equal stretches of a stream's numbers. Only a queue that
// fills makes the shortest delay longer; other causes make delays vary.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "flow/divider.hpp"
#include "run/clock.hpp"

namespace natxy::run {

class ShortestDelays {
 public:
  static constexpr std::uint64_t kMost = 320;  // stretches

  explicit ShortestDelays(std::uint64_t frames = 0)
      : width_(std::max<std::uint64_t>(1, (frames + kMost - 1) / kMost)),
        by_width_(width_),
        stretches_((frames + width_ - 1) / width_, kNever) {}

  // Records n >= 1 arrivals; least: the shortest of the delays. They cost two comparisons and a
  // minimum if the first one and the last one belong to the stretch of the arrivals before. All of
  // them then count as frames of this stretch, also a reordered one between them.
  void record(const std::uint64_t* numbers, const Ticks* delays, unsigned n, Ticks least) {
    if (numbers[0] - first_ >= width_ || numbers[n - 1] - first_ >= width_) [[unlikely]] {
      return record_each(numbers, delays, n);
    }
    stretches_[at_] = std::min(stretches_[at_], least);
  }

  // Adds what another receiver of the stream, or the other kind of its frames, has recorded.
  void merge(const ShortestDelays& other) {
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      stretches_[i] = std::min(stretches_[i], other.stretches_[i]);
    }
  }

  // Returns by how much a queue that fills at a constant rate has made the last frame's delay
  // longer than the first one's. The shortest delay of the last tenth has nine tenths of this
  // growth. Returns 0 if there is no growth, or if there are too few frames to tell.
  [[nodiscard]] double growth() const {
    const auto tenth = static_cast<std::ptrdiff_t>(stretches_.size() / 10);
    if (tenth == 0) return 0;
    const auto at_first = *std::min_element(stretches_.begin(), stretches_.begin() + tenth);
    const auto at_last = *std::min_element(stretches_.end() - tenth, stretches_.end());
    if (at_first == kNever || at_last == kNever || at_last <= at_first) return 0;
    return static_cast<double>(at_last - at_first) * 10 / 9;
  }

  // Returns the first number and the shortest delay of each stretch of which a frame arrived.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, Ticks>> list() const {
    std::vector<std::pair<std::uint64_t, Ticks>> found;
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      if (stretches_[i] != kNever) found.emplace_back(i * width_, stretches_[i]);
    }
    return found;
  }

 private:
  [[gnu::noinline]] void record_each(const std::uint64_t* numbers, const Ticks* delays,
                                     unsigned n) {
    for (unsigned i = 0; i < n; ++i) {
      at_ = by_width_.divide(numbers[i]).quotient;
      stretches_[at_] = std::min(stretches_[at_], delays[i]);
    }
    first_ = at_ * width_;
  }

  std::uint64_t width_;  // of a stretch, in numbers
  flow::Divider by_width_;
  std::uint64_t at_ = 0;     // the stretch of the last arrival
  std::uint64_t first_ = 0;  // its first number
  std::vector<Ticks> stretches_;
};

}  // namespace natxy::run
