// The gateway's clock, and the pauses of its loop. The clock is the kernel's, so that it differs
// from the tester's clock. No time service slews it, so that times of the record can be compared
// with those of the tester's watch.
#pragma once

#include <time.h>

#include <algorithm>

#include "gateway/octets.hpp"

namespace natxy::gateway {

// Reads CLOCK_MONOTONIC_RAW, without a system call if the clock source is the TSC.
[[nodiscard]] inline Nanoseconds clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<Nanoseconds>(now.tv_sec) * 1'000'000'000U +
         static_cast<Nanoseconds>(now.tv_nsec);
}

// Decides when the gateway's loop stops for DPDK's interrupt thread (plumbing/dpdk.hpp).
//
// The thread has an ordinary priority, so it may come to a CPU only after many milliseconds, and no
// frame is forwarded meanwhile. So the loop stops where no frame waits for it: in silence, and not
// while it has a real-time priority, which it has for the time of a trial.
class InterruptPauses {
 public:
  // A peer that has gone sends no frames, so it is noticed after this time.
  static constexpr Nanoseconds kSilence = 50'000'000;

  void frame_arrived(Nanoseconds now_ns) { last_frame_ns_ = now_ns; }
  void paused(Nanoseconds now_ns) { last_pause_ns_ = now_ns; }

  // A port that waits for its peer loses no frames, and its connection takes several events.
  [[nodiscard]] bool is_due(Nanoseconds now_ns, bool waits_for_peer, bool is_realtime) const {
    if (waits_for_peer) return true;
    return !is_realtime && now_ns - std::max(last_frame_ns_, last_pause_ns_) >= kSilence;
  }

 private:
  Nanoseconds last_frame_ns_ = 0;
  Nanoseconds last_pause_ns_ = 0;
};

}  // namespace natxy::gateway
