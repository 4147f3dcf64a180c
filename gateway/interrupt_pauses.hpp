// Decides when the gateway's loop stops for DPDK's interrupt thread (plumbing/held_interrupts.hpp).
//
// The thread has an ordinary priority, so it may come to a CPU only after many milliseconds, and no
// frame is forwarded meanwhile. So the loop stops where no frame waits for it: in silence, and not
// while it has a real-time priority, which it has for the time of a trial.
#pragma once

#include <algorithm>

#include "gateway/clock.hpp"

namespace natxy::gateway {

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
