// The times in which the gateway did not poll its ports, in a bounded list.
#pragma once

#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

#include "gateway/octets.hpp"

namespace natxy::gateway {

class Absences {
 public:
  struct Interval {
    Nanoseconds from_ns;
    Nanoseconds until_ns;

    friend bool operator==(const Interval&, const Interval&) = default;
  };
  static constexpr std::size_t kMost = 4096;

  Absences() { intervals_.reserve(kMost + 1); }

  // Adds an interval that begins at the end of the last one, or later. If there are too many, the
  // two neighbours with the shortest time between them become one.
  void add(const Interval& interval) {
    intervals_.push_back(interval);
    if (intervals_.size() > kMost) join_nearest();
  }

  [[nodiscard]] std::span<const Interval> intervals() const { return intervals_; }

 private:
  void join_nearest() {
    auto nearest = intervals_.begin();
    for (auto at = nearest; std::next(at) != intervals_.end(); ++at) {
      if (time_after(at) < time_after(nearest)) nearest = at;
    }
    nearest->until_ns = std::next(nearest)->until_ns;
    intervals_.erase(std::next(nearest));
  }
  static Nanoseconds time_after(std::vector<Interval>::const_iterator at) {
    return std::next(at)->from_ns - at->until_ns;
  }

  std::vector<Interval> intervals_;
};

}  // namespace natxy::gateway
