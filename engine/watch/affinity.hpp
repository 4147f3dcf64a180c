// Moves the calling thread between CPUs, and back.
#pragma once

#include <sched.h>

#include <vector>

#include "spec/trial_spec.hpp"

namespace natxy::watch {

// Keeps the calling thread off the watched CPUs while the gateway is busy, because there it would
// wait for the gateway and the gateway for it. At other times, the thread may run there: on the
// tester's CPUs it would disturb the workers, while the gateway has priority on its own CPU.
class KeptOff {
 public:
  explicit KeptOff(const std::vector<spec::WatchedCpu>& watched) {
    if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    rest_ = before_;
    for (const auto& each : watched) CPU_CLR(static_cast<unsigned>(each.cpu), &rest_);
  }
  ~KeptOff() { keep(false); }
  KeptOff(const KeptOff&) = delete;
  KeptOff& operator=(const KeptOff&) = delete;

  void keep(bool off) {
    if (off == off_ || CPU_COUNT(&rest_) == 0) return;
    off_ = off;
    sched_setaffinity(0, sizeof rest_, off ? &rest_ : &before_);
  }

 private:
  cpu_set_t before_{};
  cpu_set_t rest_{};
  bool off_ = false;
};

// Keeps the calling thread on one CPU while this exists, if the system allows it.
class OnCpu {
 public:
  explicit OnCpu(int cpu) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<unsigned>(cpu), &only);
    moved_ = sched_getaffinity(0, sizeof before_, &before_) == 0 &&
             sched_setaffinity(0, sizeof only, &only) == 0;
  }
  ~OnCpu() {
    if (moved_) sched_setaffinity(0, sizeof before_, &before_);
  }
  OnCpu(const OnCpu&) = delete;
  OnCpu& operator=(const OnCpu&) = delete;

  [[nodiscard]] bool moved() const { return moved_; }

 private:
  cpu_set_t before_{};
  bool moved_ = false;
};

}  // namespace natxy::watch
