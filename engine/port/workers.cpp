#include "port/workers.hpp"

#include <pthread.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <sched.h>

#include <cstring>
#include <utility>

#include "spec/event.hpp"

namespace natxy::port {
namespace {

constexpr int kPriority = 5;  // above all ordinary threads, below the kernel's own threads

int set_policy(int policy, int priority) {
  const sched_param parameters{.sched_priority = priority};
  return pthread_setschedparam(pthread_self(), policy, &parameters);
}

void require_realtime() {
  const int status = realtime_status();
  if (status == 0) return;
  throw spec::TrialError(spec::ErrorKind::kDevice,
                         std::string("realtime: this process may not run under SCHED_FIFO: ") +
                             std::strerror(status) + " (expected CAP_SYS_NICE, or realtime false)");
}

}  // namespace

int realtime_status() {
  const int status = set_policy(SCHED_FIFO, kPriority);
  set_policy(SCHED_OTHER, 0);
  return status;
}

Workers::Workers(const std::vector<int>& cpus) {
  unsigned lcore = 1;  // 0 is the main lcore
  for (const int cpu : cpus) {
    slots_.push_back(std::make_unique<Slot>());
    slots_.back()->cpu = cpu;
    slots_.back()->lcore = lcore++;
    slots_.back()->active = &active_;
  }
}

Workers::~Workers() {
  rte_eal_mp_wait_lcore();
}

int Workers::run(void* argument) {
  auto& slot = *static_cast<Slot*>(argument);
  if (slot.realtime) set_policy(SCHED_FIFO, kPriority);
  try {
    slot.work();
  } catch (...) {
    slot.thrown = std::current_exception();
  }
  if (slot.realtime) set_policy(SCHED_OTHER, 0);
  --*slot.active;
  return 0;
}

void Workers::launch(unsigned worker, std::function<void()> work, bool realtime) {
  if (realtime) require_realtime();
  auto& slot = *slots_.at(worker);
  rte_eal_wait_lcore(slot.lcore);
  slot.work = std::move(work);
  slot.realtime = realtime;
  slot.thrown = nullptr;
  ++active_;
  if (rte_eal_remote_launch(&Workers::run, &slot, slot.lcore) == 0) return;
  --active_;
  throw spec::TrialError(spec::ErrorKind::kInternal,
                         "worker " + std::to_string(worker) + ": does not accept its work");
}

void Workers::join() {
  for (const auto& slot : slots_) rte_eal_wait_lcore(slot->lcore);
  for (const auto& slot : slots_) {
    if (slot->thrown) std::rethrow_exception(std::exchange(slot->thrown, nullptr));
  }
}

}  // namespace natxy::port
