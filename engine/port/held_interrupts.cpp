#include "port/held_interrupts.hpp"

#include <rte_alarm.h>

#include <cstdint>

#include "spec/event.hpp"

namespace natxy::port {

// The interrupt thread executes the callbacks of alarms.
void HeldInterrupts::hold() {
  constexpr std::uint64_t kSoonUs = 1;
  if (rte_eal_alarm_set(kSoonUs, wait, this) != 0) {
    throw spec::TrialError(spec::ErrorKind::kDevice, "DPDK has no alarm left (expected one)");
  }
  waits_.acquire();
}

void HeldInterrupts::wait(void* held) {
  auto& self = *static_cast<HeldInterrupts*>(held);
  self.waits_.release();
  self.go_on_.acquire();
}

// Events that come together are handled in any order, so the thread is stopped twice: before it
// stops again, it has handled all events that were pending before the first time.
void HeldInterrupts::let_pass() {
  for (unsigned i = 0; i < 2; ++i) {
    let_go();
    hold();
  }
}

}  // namespace natxy::port
