// Scheduling: which threads can take a CPU from a gateway's threads (those to which the scheduler
// does not prefer the gateway), and where the tester's own threads run.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spec/trial_spec.hpp"
#include "watch/absences.hpp"

namespace natxy::watch {

enum class Policy : std::uint8_t {
  kOrdinary,  // SCHED_OTHER, SCHED_BATCH, SCHED_IDLE
  kRealtime,  // SCHED_FIFO, SCHED_RR, SCHED_DEADLINE
  kUnknown,   // the thread has ended
};

[[nodiscard]] inline Policy policy_of(std::int32_t thread) {
  const int policy = sched_getscheduler(thread);
  if (policy < 0) return Policy::kUnknown;
  switch (policy & ~SCHED_RESET_ON_FORK) {
    case SCHED_OTHER:
    case SCHED_BATCH:
    case SCHED_IDLE:
      return Policy::kOrdinary;
    default:
      return Policy::kRealtime;
  }
}

// Returns whether a thread of the policy `other` takes the CPU from a gateway. A real-time gateway
// preempts an ordinary thread whenever it has something to do, so such a thread runs only while the
// gateway has nothing to do, or while an interrupt in its context works for the network. A thread
// of unknown policy counts as taking the CPU: absences are upper bounds, because a trial that is
// repeated does no harm, while a gateway that is blamed for another thread's time does.
[[nodiscard]] constexpr bool takes_away(Policy gateway, Policy other) {
  return gateway != Policy::kRealtime || other != Policy::kOrdinary;
}

// Returns the name of a thread, whatever a program has made of it, in printable characters of
// ASCII.
[[nodiscard]] inline std::string name_of(std::int32_t thread) {
  std::ifstream file("/proc/" + std::to_string(thread) + "/comm");
  std::string name;
  std::getline(file, name);
  std::replace_if(
      name.begin(), name.end(), [](char each) { return each < ' ' || each > '~'; }, '?');
  return name.empty() ? "a thread" : name;
}

// Returns whether this is a CPU's softirq thread. It is listed among the gateway's threads, but is
// a thread of the kernel and always ordinary.
[[nodiscard]] inline bool is_softirq_thread(std::int32_t thread) {
  return name_of(thread).starts_with("ksoftirqd/");
}

// The threads of a gateway on a CPU, and what is known of other threads that were found there.
class GatewayThreads {
 public:
  explicit GatewayThreads(std::set<std::int32_t> threads) : threads_(std::move(threads)) {
    bool any = false;
    bool all = true;
    for (const auto thread : threads_) {
      if (is_softirq_thread(thread)) continue;
      any = true;
      all = all && policy_of(thread) == Policy::kRealtime;
    }
    policy_ = any && all ? Policy::kRealtime : Policy::kOrdinary;
  }

  [[nodiscard]] bool contains(std::int32_t thread) const { return threads_.contains(thread); }
  [[nodiscard]] bool are_realtime() const { return policy_ == Policy::kRealtime; }

  // Classifies a thread that was found on the gateway's CPU. Must be called soon after, while the
  // thread exists.
  [[nodiscard]] Occupant occupant(std::int32_t thread) {
    if (threads_.contains(thread)) return Occupant::kGateway;
    const auto [known, is_new] = others_.try_emplace(thread);
    if (!is_new) return known->second.occupant;
    if (!takes_away(policy_, policy_of(thread))) known->second.occupant = Occupant::kOther;
    known->second.name = name_of(thread);
    return known->second.occupant;
  }

  // Notes that a look has found this thread.
  void found(std::int32_t thread) {
    const auto other = others_.find(thread);
    if (other != others_.end()) ++other->second.looks;
  }
  struct Taker {
    std::string who;  // name and number; empty: none
    std::uint64_t looks = 0;
  };
  // Returns the foreign thread that most looks have found.
  [[nodiscard]] Taker taker() const {
    Taker most;
    for (const auto& [thread, other] : others_) {
      if (other.occupant != Occupant::kForeign || other.looks <= most.looks) continue;
      most = {.who = other.name + " (" + std::to_string(thread) + ")", .looks = other.looks};
    }
    return most;
  }

 private:
  struct Other {
    Occupant occupant = Occupant::kForeign;
    std::string name;
    std::uint64_t looks = 0;
  };

  std::set<std::int32_t> threads_;
  Policy policy_ = Policy::kOrdinary;  // kRealtime if all of them are
  std::map<std::int32_t, Other> others_;
};

// Keeps the calling thread off the watched CPUs while the gateway is busy, because there it would
// wait for the gateway and the gateway for it. At other times, the thread may run there: on the
// tester's CPUs it would disturb the workers, while the gateway has priority on its own CPU.
class KeptOff {
 public:
  explicit KeptOff(const std::vector<spec::WatchedCpu>& watched) {
    if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    rest_ = before_;
    for (const auto& watched_cpu : watched) CPU_CLR(static_cast<unsigned>(watched_cpu.cpu), &rest_);
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
