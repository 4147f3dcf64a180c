// Measures how far apart two CPUs are: the time of a cache line from one to the other and back.
//
// A virtual machine's host may move its CPUs, as the guest sees them, to other cores at any time:
// to two cores that share a cache, or to two that do not. A kernel gateway that gets its frames
// from the tester's CPU then forwards a quarter less.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace natxy::watch {

class Ball {
 public:
  // Returns the ball if it is here. Called over and over by a thread on the other CPU.
  void answer() {
    const auto strokes = strokes_.load(std::memory_order_acquire);
    if (strokes % 2 == 1) strokes_.store(strokes + 1, std::memory_order_release);
  }

  // Returns the time of a round trip in nanoseconds, the mean of the fastest of several series:
  // an interrupt disturbs only one of them. Returns 0 if the other thread does not answer.
  [[nodiscard]] std::uint64_t round_trip_ns() {
    const auto until = Clock::now() + kPatience;
    std::uint64_t fastest = 0;
    for (unsigned series = 0; series < kSeries; ++series) {
      const auto begin = Clock::now();
      for (unsigned trip = 0; trip < kTrips; ++trip) {
        if (!make_trip(until)) return fastest;
      }
      const auto took = std::chrono::nanoseconds(Clock::now() - begin).count();
      const auto mean = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(took) / kTrips);
      fastest = fastest == 0 ? mean : std::min(fastest, mean);
    }
    return fastest;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds kPatience{1000};
  static constexpr unsigned kSeries = 10;
  static constexpr unsigned kTrips = 20;
  static constexpr unsigned kLooksAtTheClock = 256;  // a look costs about as much as a trip

  [[nodiscard]] bool make_trip(Clock::time_point until) {
    const auto strokes = strokes_.load(std::memory_order_relaxed);
    const auto back = strokes + (strokes % 2 == 1 ? 1 : 2);  // an unanswered ball is still there
    strokes_.store(back - 1, std::memory_order_release);
    for (unsigned look = 1; strokes_.load(std::memory_order_acquire) != back; ++look) {
      if (look % kLooksAtTheClock == 0 && Clock::now() > until) return false;
    }
    return true;
  }

  alignas(128) std::atomic<std::uint64_t> strokes_{0};  // odd: the ball is at the other thread
};

}  // namespace natxy::watch
