// Times short pieces of work on a core, and lets two cores take turns.
#pragma once

#include <atomic>
#include <ctime>
#include <thread>
#include <utility>

namespace natxy::bench {

// Returns the CPU time of this thread.
inline double cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// Measures the CPU time of many short pieces of work, minus the cost of reading the clock.
class Stopwatch {
 public:
  Stopwatch() {
    constexpr int kReadings = 10'000;
    for (int i = 0; i < kReadings; ++i) measure([] {});
    reading_ns_ = total_ns_ / kReadings;
    total_ns_ = 0;
  }
  template <class Work>
  void measure(Work&& work) {
    const auto before = cpu_ns();
    work();
    total_ns_ += cpu_ns() - before - reading_ns_;
  }
  [[nodiscard]] double total_ns() const { return total_ns_; }

 private:
  double reading_ns_ = 0;
  double total_ns_ = 0;
};

// Makes two threads take turns: the work of one is timed while the other waits.
class Turns {
 public:
  // Runs `work` in each turn of this side, until the other side ends.
  template <class Work>
  void follow(Work&& work) {
    for (await(Turn::kFollower); turn_ != Turn::kOver; await(Turn::kFollower)) {
      work();
      turn_ = Turn::kLeader;
    }
  }
  void hand_over() {
    turn_ = Turn::kFollower;
    await(Turn::kLeader);
  }
  void end() { turn_ = Turn::kOver; }

 private:
  enum class Turn { kLeader, kFollower, kOver };
  void await(Turn whose) {
    while (turn_ != whose && turn_ != Turn::kOver) std::this_thread::yield();
  }
  std::atomic<Turn> turn_{Turn::kLeader};
};

}  // namespace natxy::bench
