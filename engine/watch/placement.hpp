// Measures how the host of a virtual machine has placed two of its CPUs, of which one is the
// tester's and the other the gateway's (docs/decisions/0026).
//
// The host may move them at any time: to cores that share a cache, to cores that do not, or to the
// two threads of one core, or beside the work of others. Only the first is good. The round trip of
// a cache line tells the second. The others are told by two pieces of work that both CPUs do at the
// same time: one fills a core, and becomes slower if the core's other thread works as well; the
// other one is a chain that waits for itself, and only a slower clock makes it slower.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace natxy::watch {

// How long two pieces of work take on one CPU; 0: unknown.
struct Pace {
  std::uint64_t work_ns = 0;   // fills a core
  std::uint64_t chain_ns = 0;  // waits for itself

  // Says which core has more other work, whatever their clocks.
  [[nodiscard]] bool is_more_crowded_than(const Pace& other) const {
    return work_ns * std::max<std::uint64_t>(1, other.chain_ns) >
           other.work_ns * std::max<std::uint64_t>(1, chain_ns);
  }
};

struct Placement {
  std::uint64_t round_trip_ns = 0;  // of a cache line; 0: unknown
  Pace pace;                        // of the CPU with more other work

  [[nodiscard]] bool is_known() const { return round_trip_ns > 0 && pace.work_ns > 0; }

  // Takes the worse one of two.
  void add(const Placement& other) {
    round_trip_ns = std::max(round_trip_ns, other.round_trip_ns);
    if (other.pace.is_more_crowded_than(pace)) pace = other.pace;
  }
};

class PlacementGauge {
 public:
  // Waits up to `longest` for the other thread. A host that has just taken its CPU seldom keeps it
  // for longer than the default.
  explicit PlacementGauge(std::chrono::milliseconds longest = std::chrono::milliseconds(12))
      : longest_(longest) {}

  // Does its part of a measurement, if there is one. Called over and over by a thread on the other
  // CPU.
  void answer() {
    const auto strokes = strokes_.load(std::memory_order_acquire);
    if (strokes % 2 == 1) strokes_.store(strokes + 1, std::memory_order_release);
    if (work_.load(std::memory_order_acquire) != Work::kAsked) return;
    work_.store(Work::kBegun, std::memory_order_release);
    other_pace_ = pace();
    work_.store(Work::kDone, std::memory_order_release);
  }

  // Measures both. Takes 20 to 200 microseconds, if the other thread answers at once.
  [[nodiscard]] Placement measure() {
    const auto until = Clock::now() + longest_;
    Placement placement;
    do {
      if (placement.round_trip_ns == 0) placement.round_trip_ns = round_trip_ns();
      if (placement.pace.work_ns == 0) placement.pace = worse_pace();
    } while (!placement.is_known() && Clock::now() < until);
    return placement;
  }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Work : std::uint8_t { kNone, kAsked, kBegun, kDone };
  static constexpr std::chrono::microseconds kPatience{1000};  // for an answer
  static constexpr unsigned kSeries = 10;
  static constexpr unsigned kTrips = 20;
  static constexpr unsigned kPieces = 9;
  using Times = std::array<std::uint64_t, kPieces>;
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

  // Returns the pace of the CPU with more other work, while both work.
  [[nodiscard]] Pace worse_pace() {
    const auto until = Clock::now() + kPatience;
    const auto is = [this](Work state) { return work_.load(std::memory_order_acquire) == state; };
    if (!is(Work::kBegun)) work_.store(Work::kAsked, std::memory_order_release);
    if (!wait(until, [&] { return !is(Work::kAsked); })) return {};
    const auto own = pace();
    if (!wait(until, [&] { return is(Work::kDone); })) return {};
    return other_pace_.is_more_crowded_than(own) ? other_pace_ : own;
  }

  template <class Condition>
  [[nodiscard]] static bool wait(Clock::time_point until, Condition fulfilled) {
    for (unsigned look = 1; !fulfilled(); ++look) {
      if (look % kLooksAtTheClock == 0 && Clock::now() > until) return false;
    }
    return true;
  }

  // Does both pieces in turn, so that a change of the clock meets both.
  [[nodiscard]] static Pace pace() {
    Times work_ns{};
    Times chain_ns{};
    for (unsigned piece = 0; piece < kPieces; ++piece) {
      work_ns[piece] = time_ns(work);
      chain_ns[piece] = time_ns(chain);
    }
    return {.work_ns = median(work_ns), .chain_ns = median(chain_ns)};
  }

  [[nodiscard]] static std::uint64_t median(Times& took) {
    std::nth_element(took.begin(), took.begin() + kPieces / 2, took.end());
    return std::max<std::uint64_t>(1, took[kPieces / 2]);
  }

  template <class Piece>
  [[nodiscard]] static std::uint64_t time_ns(Piece piece) {
    const auto begin = Clock::now();
    piece();
    return since_ns(begin);
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

  // Multiplies, each time with the result of the time before.
  static void chain() {
    std::uint64_t product = 3;
    for (unsigned i = 0; i < 1000; ++i) {
      product *= 0x9E3779B97F4A7C15U;
      asm volatile("" : "+r"(product));
    }
  }

  [[nodiscard]] static std::uint64_t since_ns(Clock::time_point begin) {
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - begin).count());
  }

  alignas(128) std::atomic<std::uint64_t> strokes_{0};  // odd: the ball is at the other thread
  alignas(128) std::atomic<Work> work_{Work::kNone};
  std::chrono::milliseconds longest_;
  Pace other_pace_;  // belongs to the thread that work_ says
};

}  // namespace natxy::watch
