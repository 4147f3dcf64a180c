// A clock that advances only when all workers have completed a turn of their loops. So no thread is
// ever late, however seldom the host lets it run.
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
    // A thread that has completed its turn lets the others run.
    if (own_ != nullptr && own_->readings.fetch_add(1) + 1 >= kRound) sched_yield();
    return time_.load(std::memory_order_acquire);
  }

  // Called by one thread, once per turn of its loop.
  static void advance(run::Ticks by) {
    if (!std::ranges::all_of(workers_, [](const auto& each) { return each.has_come_round(); })) {
      return;
    }
    for (auto& worker : workers_) worker.readings = 0;
    time_.fetch_add(by, std::memory_order_release);
  }

  // Called before a worker's thread starts; from then on, the clock waits for it.
  static void expect(unsigned worker) {
    workers_.at(worker).readings = 0;
    workers_.at(worker).active = true;
  }
  // Called in that thread, before and after its work.
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
  // The most clock readings in a turn of a loop: at its start, for a second sender, around two send
  // calls, and for the receivers of two ports with four queues. Twice as many include a whole turn,
  // wherever they begin.
  static constexpr unsigned kRound = 2 * 14;
  struct Worker {
    std::atomic<bool> active;
    std::atomic<unsigned> readings;
    [[nodiscard]] bool has_come_round() const { return !active || readings >= kRound; }
  };

  static inline std::array<Worker, 8> workers_{};
  static inline thread_local Worker* own_ = nullptr;
  static inline std::atomic<run::Ticks> time_{1'000'000'000};  // not 0: a phase has not begun then
};

}  // namespace natxy::tests
