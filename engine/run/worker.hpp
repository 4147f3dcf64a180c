// A worker: a core that executes its tasks in turn, and the state that the workers of a phase
// share.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <thread>
#include <vector>

#include "run/clock.hpp"
#include "spec/runs.hpp"

namespace natxy::run {

// The state that the threads of one phase share: when the phase starts and when it is over.
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

// CPU time and context switches of a worker's thread.
struct ThreadUsage {
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  double cpu_ns = 0;

  // Returns the usage of the calling thread since it began.
  [[nodiscard]] static ThreadUsage now() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return {.voluntary_switches = static_cast<std::uint64_t>(usage.ru_nvcsw),
            .involuntary_switches = static_cast<std::uint64_t>(usage.ru_nivcsw),
            .cpu_ns = static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec)};
  }
  [[nodiscard]] ThreadUsage since(const ThreadUsage& before) const {
    return {.voluntary_switches = voluntary_switches - before.voluntary_switches,
            .involuntary_switches = involuntary_switches - before.involuntary_switches,
            .cpu_ns = cpu_ns - before.cpu_ns};
  }
};

struct WorkerReport {
  ThreadUsage usage;
  Ticks worst_loop_gap = 0;
  spec::Runs away;  // the long rounds, in ticks since the start
  Ticks ran = 0;    // from the start to the end of the loop; minus CPU time: time off the core
};

// For Service, the neighbour responder of a port, see port/neighbour_task.hpp.
template <class Clock, class Sender, class Receiver, class Service>
struct Worker {
  std::vector<Sender*> senders;
  std::vector<Receiver*> receivers;
  std::vector<Service*> services;
  Ticks long_round = kNever;  // a round of the loop that takes longer is noted
  WorkerReport report;

  // Runs until the phase is over. `workers`: the number of threads that run at the same time.
  void run(Control& control, unsigned workers, Ticks lead) {
    const auto start = control.template arrive<Clock>(workers, lead);
    for (auto* sender : senders) sender->begin(start);
    for (auto* receiver : receivers) receiver->begin(start);
    const auto before = ThreadUsage::now();
    const auto began = Clock::now();
    loop(control, start);
    take_the_rest();
    report.usage = ThreadUsage::now().since(before);
    report.ran = Clock::now() - began;
  }

 private:
  // After each send call, a worker that receives reads the clock again and polls: the call may have
  // taken a long time, in which frames have arrived, also those of the other direction.
  void loop(Control& control, Ticks start) {
    auto last = Clock::now();
    for (auto now = last; !control.over(now); last = now, now = Clock::now()) {
      report.worst_loop_gap = std::max(report.worst_loop_gap, now - last);
      if (now - last > long_round) [[unlikely]]
        note_away(std::max(last, start) - start, now - std::min(now, start));
      auto at = now;
      bool polled = false;
      for (auto* sender : senders) {
        if (polled) at = Clock::now();
        if (!sender->step(at)) continue;
        polled = true;
        if (receivers.empty()) continue;
        at = Clock::now();
        for (auto* receiver : receivers) receiver->step(at);
      }
      if (!polled) {
        for (auto* receiver : receivers) receiver->step(at);
      }
      for (auto* service : services) service->step(at);
    }
  }

  [[gnu::noinline]] void note_away(Ticks from, Ticks until) {
    if (from < until) report.away.add({.first = from, .end = until, .count = until - from});
  }

  // Receives what is still in the ring. If the thread was kept from its core until the drain was
  // over, these frames arrived in time, so the gateway has not lost them. Bounded, because frames
  // may arrive without end.
  void take_the_rest() {
    constexpr unsigned kPolls = 512;  // with 32 frames each: more than any ring holds
    for (auto* receiver : receivers) {
      for (unsigned poll = 0; poll < kPolls && receiver->step(Clock::now()); ++poll) {
      }
    }
  }
};

}  // namespace natxy::run
