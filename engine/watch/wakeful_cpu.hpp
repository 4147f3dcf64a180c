// Keeps a CPU awake.
//
// A CPU that sleeps looks like one that the host has taken: both have no timer interrupts, and the
// host may wake a CPU late. So a thread of the lowest policy (SCHED_IDLE) spins on the CPU; any
// other thread that is ready to run replaces it at once.
//
// If real-time threads leave it less than a twentieth of the CPU, the kernel takes 50 ms of each
// second, in one piece, from them (the fair server of Linux 6.12). So while they are busy, the
// spinning thread becomes a real-time thread of the lowest priority.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <ctime>
#include <thread>

#include "watch/placement.hpp"

namespace natxy::watch {

class WakefulCpu {
 public:
  explicit WakefulCpu(int cpu)
      : thread_([this, cpu](const std::stop_token& stop) { spin(cpu, stop); }) {
    number_.wait(0);
  }
  // Ends the thread. On a busy CPU it might not run for seconds, so it gets the ordinary policy
  // and its former CPUs.
  ~WakefulCpu() {
    thread_.request_stop();
    const sched_param none{};
    pthread_setschedparam(thread_.native_handle(), SCHED_OTHER, &none);
    pthread_setaffinity_np(thread_.native_handle(), sizeof before_, &before_);
  }
  WakefulCpu(const WakefulCpu&) = delete;
  WakefulCpu& operator=(const WakefulCpu&) = delete;

  // Makes the thread a real-time thread of the lowest priority, for which ordinary threads must
  // wait, or reverts this. If the system refuses, the policy stays.
  void insist(bool yes) {
    if (yes == insists_) return;
    const sched_param how{.sched_priority = yes ? 1 : 0};
    if (sched_setscheduler(thread(), yes ? SCHED_FIFO : SCHED_IDLE, &how) == 0) insists_ = yes;
  }

  [[nodiscard]] bool insists() const { return insists_; }
  // Returns the number of the thread. The CPU is idle while this thread runs.
  [[nodiscard]] std::int32_t thread() const { return number_.load(); }
  // Returns the CPU time that the thread has taken; 0 if the system does not tell.
  [[nodiscard]] std::uint64_t cpu_ns() {
    clockid_t clock{};
    timespec taken{};
    if (pthread_getcpuclockid(thread_.native_handle(), &clock) != 0) return 0;
    clock_gettime(clock, &taken);
    return static_cast<std::uint64_t>(taken.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(taken.tv_nsec);
  }
  // Returns the placement of the calling thread's CPU and this one; unknown if this one is too busy
  // to answer.
  [[nodiscard]] Placement placement() { return gauge_.measure(); }

 private:
  void spin(int cpu, const std::stop_token& stop) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<unsigned>(cpu), &only);
    const sched_param lowest{};
    pthread_getaffinity_np(pthread_self(), sizeof before_, &before_);
    number_.store(static_cast<std::int32_t>(syscall(SYS_gettid)));  // before the policy changes
    number_.notify_one();
    // If either call fails, the thread must not spin: it would take a CPU from other threads.
    const bool ready = pthread_setschedparam(pthread_self(), SCHED_IDLE, &lowest) == 0 &&
                       pthread_setaffinity_np(pthread_self(), sizeof only, &only) == 0;
    while (ready && !stop.stop_requested()) {
      gauge_.answer();
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  }

  bool insists_ = false;
  cpu_set_t before_{};  // the CPUs that the thread could use at its start
  std::atomic<std::int32_t> number_{0};
  PlacementGauge gauge_;
  std::jthread thread_;
};

}  // namespace natxy::watch
