// Measures how the host of a virtual machine has placed two of its CPUs, of which one is the
// tester's and the other the gateway's (docs/decisions/0026).
//
// The host may move them at any time: to cores that share a cache, to cores that do not, or to the
// two threads of one core. Only the first is good. The round trip of a cache line tells the second,
// the speed of both while both work tells the third.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace natxy::watch {

struct Placement {
  std::uint64_t round_trip_ns = 0;  // of a cache line; 0: unknown
  std::uint64_t work_ns = 0;        // of a fixed piece of work, on the slower CPU; 0: unknown

  // Takes the worse one of two.
  void add(const Placement& other) {
    round_trip_ns = std::max(round_trip_ns, other.round_trip_ns);
    work_ns = std::max(work_ns, other.work_ns);
  }
};

class PlacementGauge {
 public:
  // Does its part of a measurement, if there is one. Called over and over by a thread on the other
  // CPU.
  void answer() {
    const auto strokes = strokes_.load(std::memory_order_acquire);
    if (strokes % 2 == 1) strokes_.store(strokes + 1, std::memory_order_release);
    if (work_.load(std::memory_order_acquire) != Work::kAsked) return;
    work_.store(Work::kBegun, std::memory_order_release);
    other_work_ns_ = median_work_ns();
    work_.store(Work::kDone, std::memory_order_release);
  }

  // Measures both. Takes 20 to 200 microseconds, and 2 ms if the other thread does not answer.
  [[nodiscard]] Placement measure() {
    return {.round_trip_ns = round_trip_ns(), .work_ns = slower_work_ns()};
  }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Work : std::uint8_t { kNone, kAsked, kBegun, kDone };
  static constexpr std::chrono::microseconds kPatience{1000};
  static constexpr unsigned kSeries = 10;
  static constexpr unsigned kTrips = 20;
  static constexpr unsigned kPieces = 9;
  static constexpr unsigned kLooksAtTheClock = 256;  // a look costs about as much as a trip

  // Returns the mean of the fastest of several series: an interrupt disturbs only one of them.
  [[nodiscard]] std::uint64_t round_trip_ns() {
    const auto until = Clock::now() + kPatience;
    std::uint64_t fastest = 0;
    for (unsigned series = 0; series < kSeries; ++series) {
      const auto begin = Clock::now();
      for (unsigned trip = 0; trip < kTrips; ++trip) {
        if (!make_trip(until)) return fastest;
      }
      const auto mean = std::max<std::uint64_t>(1, since_ns(begin) / kTrips);
      fastest = fastest == 0 ? mean : std::min(fastest, mean);
    }
    return fastest;
  }

  [[nodiscard]] bool make_trip(Clock::time_point until) {
    const auto strokes = strokes_.load(std::memory_order_relaxed);
    const auto back = strokes + (strokes % 2 == 1 ? 1 : 2);  // an unanswered ball is still there
    strokes_.store(back - 1, std::memory_order_release);
    return wait(until, [&] { return strokes_.load(std::memory_order_acquire) == back; });
  }

  // Returns the time of the slower of both CPUs, while both work.
  [[nodiscard]] std::uint64_t slower_work_ns() {
    const auto until = Clock::now() + kPatience;
    const auto is = [this](Work state) { return work_.load(std::memory_order_acquire) == state; };
    if (!is(Work::kBegun)) work_.store(Work::kAsked, std::memory_order_release);
    if (!wait(until, [&] { return !is(Work::kAsked); })) return 0;
    const auto own_ns = median_work_ns();
    return wait(until, [&] { return is(Work::kDone); }) ? std::max(own_ns, other_work_ns_) : 0;
  }

  template <class Condition>
  [[nodiscard]] static bool wait(Clock::time_point until, Condition fulfilled) {
    for (unsigned look = 1; !fulfilled(); ++look) {
      if (look % kLooksAtTheClock == 0 && Clock::now() > until) return false;
    }
    return true;
  }

  [[nodiscard]] static std::uint64_t median_work_ns() {
    std::array<std::uint64_t, kPieces> took{};
    for (auto& each : took) {
      const auto begin = Clock::now();
      work();
      each = since_ns(begin);
    }
    std::nth_element(took.begin(), took.begin() + kPieces / 2, took.end());
    return std::max<std::uint64_t>(1, took[kPieces / 2]);
  }

  // Adds in independent chains, which keeps the core's units so busy that a second thread of the
  // core halves the speed. The empty statements keep the compiler from adding it all at once.
  static void work() {
    std::uint64_t a = 1;
    std::uint64_t b = 2;
    std::uint64_t c = 3;
    std::uint64_t d = 4;
    std::uint64_t e = 5;
    std::uint64_t f = 6;
    for (unsigned i = 0; i < 2000; ++i) {
      a += 1, b += 3, c += 5, d += 7, e += 9, f += 11;
      asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
      a += 1, b += 3, c += 5, d += 7, e += 9, f += 11;
      asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
    }
  }

  [[nodiscard]] static std::uint64_t since_ns(Clock::time_point begin) {
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - begin).count());
  }

  alignas(128) std::atomic<std::uint64_t> strokes_{0};  // odd: the ball is at the other thread
  alignas(128) std::atomic<Work> work_{Work::kNone};
  std::uint64_t other_work_ns_ = 0;  // belongs to the thread that work_ says
};

}  // namespace natxy::watch
