// Which threads can take a CPU from a gateway's: those that the scheduler does not put behind it.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>

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

// A real-time gateway takes the CPU from an ordinary thread whenever there is something to do, so
// such a thread has run while there was nothing, or while an interrupt worked for the network in
// its name. A thread of which nothing is known counts: an absence is an upper bound, since a trial
// that is made again does no harm, and a gateway that is blamed for another's time does.
[[nodiscard]] constexpr bool takes_away(Policy gateway, Policy other) {
  return gateway != Policy::kRealtime || other != Policy::kOrdinary;
}

// A CPU's softirq thread is named with the gateway's, but it is the kernel's, and always ordinary.
[[nodiscard]] inline bool is_softirq_thread(std::int32_t thread) {
  std::ifstream file("/proc/" + std::to_string(thread) + "/comm");
  std::string name;
  std::getline(file, name);
  return name.starts_with("ksoftirqd/");
}

// The threads of a gateway on a CPU, and what is known of others that were seen there.
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

  // What a thread that runs on the gateway's CPU is to it. Soon after it was seen.
  [[nodiscard]] Found found(std::int32_t thread) {
    if (threads_.contains(thread)) return Found::kGateway;
    const auto [known, is_new] = others_.try_emplace(thread, Found::kForeign);
    if (is_new && !takes_away(policy_, policy_of(thread))) known->second = Found::kOther;
    return known->second;
  }

 private:
  std::set<std::int32_t> threads_;
  Policy policy_ = Policy::kOrdinary;  // of all of them
  std::map<std::int32_t, Found> others_;
};

}  // namespace natxy::watch
