// Time that passes only when every worker has come round its loop: nobody is ever late, however
// seldom the host lets a thread run.
#pragma once

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "run/clock.hpp"

namespace natxy::tests {

class LockstepClock {
 public:
  static run::Ticks now() {
    // Whoever has come round lets others run, who have not.
    if (own_ != nullptr && own_->readings.fetch_add(1) + 1 >= kRound) sched_yield();
    return time_.load(std::memory_order_acquire);
  }

  // Called by one thread, once a turn of its own.
  static void advance(run::Ticks by) {
    if (!std::ranges::all_of(workers_, [](const auto& each) { return each.has_come_round(); })) {
      return;
    }
    for (auto& worker : workers_) worker.readings = 0;
    time_.fetch_add(by, std::memory_order_release);
  }

  // Before a worker's thread starts; time waits for it from here on.
  static void expect(unsigned worker) {
    workers_.at(worker).readings = 0;
    workers_.at(worker).active = true;
  }
  // In that thread, around its work.
  class Turns {
   public:
    explicit Turns(unsigned worker) { own_ = &workers_.at(worker); }
    ~Turns() {
      own_->active = false;
      own_ = nullptr;
    }
    Turns(const Turns&) = delete;
    Turns& operator=(const Turns&) = delete;
  };

 private:
  // A loop reads the clock at most this often: at its head, for a second sender, around two send
  // calls, and for two receivers. Twice that is a whole turn, wherever in a loop it began.
  static constexpr unsigned kRound = 2 * 8;
  struct Worker {
    std::atomic<bool> active;
    std::atomic<unsigned> readings;
    [[nodiscard]] bool has_come_round() const { return !active || readings >= kRound; }
  };

  static inline std::array<Worker, 8> workers_{};
  static inline thread_local Worker* own_ = nullptr;
  static inline std::atomic<run::Ticks> time_{1'000'000'000};  // 0 means to a phase: not begun
};

}  // namespace natxy::tests
