// Time in a trial is counted in ticks of the time stamp counter, which one instruction reads
// without a system call.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "flow/divider.hpp"

namespace natxy::run {

using flow::Uint128;
using Ticks = std::uint64_t;

inline constexpr Ticks kNever = ~Ticks{0};
inline constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

// Reads the invariant counter (x86: constant_tsc; aarch64: the generic timer).
struct TscClock {
  [[nodiscard]] static Ticks now() {
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    Ticks ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
#error "natxy needs a cheap cycle counter: x86-64 or aarch64"
#endif
  }
};

// The rate of a tick counter. Converts during set-up and reporting, never per frame.
class TickRate {
 public:
  constexpr explicit TickRate(std::uint64_t hz) : hz_(hz) {}
  [[nodiscard]] constexpr std::uint64_t hz() const { return hz_; }
  [[nodiscard]] constexpr Ticks from_ns(std::uint64_t ns) const {
    return static_cast<Ticks>(Uint128{ns} * hz_ / kNsPerSecond);
  }
  [[nodiscard]] constexpr double to_ns(double ticks) const {
    return ticks * 1e9 / static_cast<double>(hz_);
  }
  // Returns nanoseconds, rounded to a whole number.
  [[nodiscard]] constexpr std::uint64_t to_whole_ns(Ticks ticks) const {
    return static_cast<std::uint64_t>((Uint128{ticks} * kNsPerSecond + hz_ / 2) / hz_);
  }

 private:
  std::uint64_t hz_;
};

}  // namespace natxy::run
