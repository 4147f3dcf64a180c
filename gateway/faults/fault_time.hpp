// The times of faults: which clock they use, their delays, and when they recur.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gateway/config.hpp"
#include "gateway/frame.hpp"
#include "gateway/octets.hpp"

namespace natxy::gateway {

// The time that a fault uses: the gateway's clock, or the departure times of the tester, computed
// from the number in a frame's data. No scheduler can disturb the latter.
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

// Pseudorandom values that follow from a seed.
class Pseudorandom {
 public:
  explicit Pseudorandom(std::uint64_t seed) : state_(seed) {}

  // Returns a value in [lowest, highest], uniform to within 2^-64 of the range.
  [[nodiscard]] std::uint64_t uniform(std::uint64_t lowest, std::uint64_t highest) {
    const auto span = Uint128{highest - lowest} + 1;
    return lowest + static_cast<std::uint64_t>(next() * span >> 64U);
  }

  // Returns an exponentially distributed time, which is at most 37 times its mean.
  [[nodiscard]] Nanoseconds exponential(Nanoseconds mean_ns) {
    const auto above_0 = static_cast<double>((next() >> 11U) + 1) * 0x1p-53;
    return static_cast<Nanoseconds>(-std::log(above_0) * static_cast<double>(mean_ns));
  }

 private:
  // Returns a value of SplitMix64.
  [[nodiscard]] std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    auto mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    return mixed ^ mixed >> 31U;
  }

  std::uint64_t state_;
};

// Times that recur: periodic, or with exponentially distributed distances (a Poisson process).
class Recurrence {
 public:
  explicit Recurrence(const Recurring& config)
      : config_(config), random_(config.seed), next_ns_(distance_ns()) {}

  // Returns the newest of the times up to now; absent before the first one.
  [[nodiscard]] std::optional<Nanoseconds> newest_ns(Nanoseconds now_ns) {
    for (; next_ns_ <= now_ns; next_ns_ += distance_ns()) newest_ns_ = next_ns_;
    return newest_ns_;
  }

 private:
  [[nodiscard]] Nanoseconds distance_ns() {
    return config_.is_exponential ? random_.exponential(config_.every_ns) : config_.every_ns;
  }

  Recurring config_;
  Pseudorandom random_;
  Nanoseconds next_ns_;
  std::optional<Nanoseconds> newest_ns_;
};

// The delays of successive frames, as the configuration gives them.
class DelaySeries {
 public:
  explicit DelaySeries(Delay delay) : delay_(std::move(delay)), random_(delay_.seed) {}

  [[nodiscard]] Nanoseconds next_ns() {
    if (delay_.uniform_ns) {
      return random_.uniform((*delay_.uniform_ns)[0], (*delay_.uniform_ns)[1]);
    }
    const auto delay_ns = delay_.pattern_ns[next_];
    if (++next_ == delay_.pattern_ns.size()) next_ = 0;
    return delay_ns;
  }

 private:
  Delay delay_;
  Pseudorandom random_;
  std::size_t next_ = 0;
};

}  // namespace natxy::gateway
