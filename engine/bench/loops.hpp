// The loops that are timed: the engine's senders and receivers over net_null and net_ring, and the
// bare loops that they are compared with; and the watches that time them.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "port/port.hpp"
#include "port/workers.hpp"
#include "run/sender.hpp"
#include "run/stream_plan.hpp"

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

// Returns traffic with the pseudorandom ports of RFC 4814, in IPv6 on both sides by default.
[[nodiscard]] spec::Traffic random_ports(spec::IpVersion version = spec::IpVersion::k6);
// Returns traffic with each pair of ports once in pseudorandom order; 3,170,829,312 by default.
[[nodiscard]] spec::Traffic enumerated(std::uint16_t destination_ports = 49151);
// Returns traffic that also has 256 destination networks and a pseudorandom field in the source.
[[nodiscard]] spec::Traffic varied();

struct Case {
  spec::Traffic traffic;
  spec::Mix mix;                    // the background traffic, if any, is random_ports()
  unsigned burst = run::kMaxBurst;  // or 1: one frame per step
};

struct Compared {  // cycles per frame
  double ours;
  double bare;
};

class Bench {
 public:
  // EAL must have been started with two worker CPUs: the first is timed, the second is the peer.
  Bench(std::vector<int> cpus, run::TickRate ticks);

  [[nodiscard]] double sender_on_null(const Case& which);
  // The peer empties the ring, so this includes the cost of cache lines that move between cores.
  [[nodiscard]] Compared sender_on_ring(const Case& which);
  // Frames come from the same core, so this is the cost of the checks without that of memory.
  [[nodiscard]] Compared receiver_on_ring(const Case& which);
  // Frames come from the peer, so this includes the cost of memory.
  [[nodiscard]] Compared receiver_across_cores(const Case& which);
  // Returns the cycles a frame of this many receivers together (1 or 2), each on a core of its own
  // with a receive queue of the same stream.
  [[nodiscard]] double receivers(unsigned count, const Case& which);

 private:
  template <class InChunks>
  [[nodiscard]] Compared receiver(const Case& which, const InChunks& in_chunks);
  // Throws if frames were lost, because then the benchmark measures something else.
  static void expect_all(const char* who, std::uint64_t frames);
  [[nodiscard]] run::StreamPlan plan(const Case& which, std::uint64_t frames) const;
  [[nodiscard]] double cycles(double cpu_ns, std::uint64_t frames) const;
  void await();
  void on_timed_worker(std::function<void()> work);
  void on_both_workers(std::function<void()> timed, std::function<void()> peer);

  run::TickRate ticks_;
  port::Workers workers_;
  std::unique_ptr<port::Port> null_;
  port::Ring ring_;
  std::unique_ptr<port::Port> loop_;  // sends to itself through ring_
  port::Ring second_ring_;
  std::unique_ptr<port::Port> second_loop_;
};

}  // namespace natxy::bench
