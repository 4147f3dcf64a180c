// The state that the threads of one phase share: when the phase starts and when it is over.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>

#include "run/clock.hpp"

namespace natxy::run {

class Control {
 public:
  Control(unsigned senders, Ticks drain, const std::atomic<bool>& cancelled, Ticks not_before = 0)
      : drain_(drain), not_before_(not_before), cancelled_(cancelled), senders_(senders) {}

  // Called by each of `workers` threads when it is ready. Returns the start of the phase, which is
  // the same for all threads; 0 if the trial is cancelled. The last thread to be ready sets the
  // start at least `lead` ticks ahead.
  template <class Clock>
  [[nodiscard]] Ticks arrive(unsigned workers, Ticks lead) {
    if (arrived_.fetch_add(1) + 1 == workers) {
      start_.store(std::max(Clock::now() + lead, not_before_));
    }
    while (start_.load() == 0 && !cancelled_.load()) std::this_thread::yield();
    return start_.load();
  }
  [[nodiscard]] Ticks start() const { return start_.load(); }

  // Called once by each sender with the end of its last frame's period. The last sender starts the
  // drain.
  void sender_done(Ticks when) {
    auto latest = latest_.load(std::memory_order_relaxed);
    while (latest < when && !latest_.compare_exchange_weak(latest, when)) {
    }
    if (senders_.fetch_sub(1) == 1) deadline_.store(latest_.load() + drain_);
  }
  // Records the total pause of a sender; the longest one of all senders counts.
  void note_pause(Ticks total) {
    auto longest = paused_.load(std::memory_order_relaxed);
    while (longest < total && !paused_.compare_exchange_weak(longest, total)) {
    }
  }
  [[nodiscard]] Ticks paused() const { return paused_.load(std::memory_order_relaxed); }

  [[nodiscard]] bool over(Ticks now) const {
    return now >= deadline_.load(std::memory_order_relaxed) ||
           cancelled_.load(std::memory_order_relaxed) ||
           ended_at_.load(std::memory_order_relaxed) != 0;
  }
  // Called by a receiver to end the phase now, without a drain.
  void end_early(Ticks now) { ended_at_.store(now); }
  [[nodiscard]] bool ended_early() const { return ended_at_.load() != 0; }

  [[nodiscard]] bool draining() const { return deadline_.load() != kNever; }
  // Returns when the phase was over.
  [[nodiscard]] Ticks end() const { return ended_early() ? ended_at_.load() : deadline_.load(); }

 private:
  Ticks drain_;
  Ticks not_before_;
  const std::atomic<bool>& cancelled_;
  std::atomic<unsigned> senders_;
  std::atomic<unsigned> arrived_{0};
  std::atomic<Ticks> start_{0};
  std::atomic<Ticks> latest_{0};
  std::atomic<Ticks> paused_{0};
  std::atomic<Ticks> deadline_{kNever};
  std::atomic<Ticks> ended_at_{0};
};

}  // namespace natxy::run
