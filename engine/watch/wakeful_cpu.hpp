// Keeps a CPU from falling asleep.
//
// A CPU that sleeps looks like one that the host has taken: neither has timer interrupts, and the
// host may be late to wake it. A thread of the lowest policy (SCHED_IDLE) spins there; whatever
// else is ready to run takes its place at once.
//
// Where real-time threads leave it less than a twentieth of the CPU the kernel gives it its share
// from theirs: 50 ms of each second at once (the fair server of Linux 6.12). So it becomes one of
// them, of the lowest priority, as long as they are busy.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace natxy::watch {

class WakefulCpu {
 public:
  explicit WakefulCpu(int cpu)
      : thread_([this, cpu](const std::stop_token& stop) { spin(cpu, stop); }) {
    number_.wait(0);
  }
  // On a busy CPU it might not run for seconds, and so not end.
  ~WakefulCpu() {
    thread_.request_stop();
    const sched_param none{};
    pthread_setschedparam(thread_.native_handle(), SCHED_OTHER, &none);
    pthread_setaffinity_np(thread_.native_handle(), sizeof before_, &before_);
  }
  WakefulCpu(const WakefulCpu&) = delete;
  WakefulCpu& operator=(const WakefulCpu&) = delete;

  // As a real-time thread, of the lowest priority; ordinary threads have to wait for it. Where that
  // is refused it stays what it was.
  void insist(bool yes) {
    if (yes == insists_) return;
    const sched_param how{.sched_priority = yes ? 1 : 0};
    if (sched_setscheduler(thread(), yes ? SCHED_FIFO : SCHED_IDLE, &how) == 0) insists_ = yes;
  }

  [[nodiscard]] bool insists() const { return insists_; }
  // The thread's number; the CPU is idle where it runs.
  [[nodiscard]] std::int32_t thread() const { return number_.load(); }

 private:
  void spin(int cpu, const std::stop_token& stop) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<unsigned>(cpu), &only);
    const sched_param lowest{};
    pthread_getaffinity_np(pthread_self(), sizeof before_, &before_);
    number_.store(static_cast<std::int32_t>(syscall(SYS_gettid)));  // before it may have to wait
    number_.notify_one();
    // Where either is refused it must not run: it would take a CPU from somebody.
    const bool ready = pthread_setschedparam(pthread_self(), SCHED_IDLE, &lowest) == 0 &&
                       pthread_setaffinity_np(pthread_self(), sizeof only, &only) == 0;
    while (ready && !stop.stop_requested()) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  }

  bool insists_ = false;
  cpu_set_t before_{};  // where the thread may run
  std::atomic<std::int32_t> number_{0};
  std::jthread thread_;
};

}  // namespace natxy::watch
