#include "plumbing/held_interrupts.hpp"

#include <rte_interrupts.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <new>
#include <stdexcept>

namespace natxy::plumbing {
namespace {

rte_intr_handle* handle_of(int event) {
  auto* handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
  if (handle == nullptr) throw std::bad_alloc();
  rte_intr_fd_set(handle, event);
  rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT);
  return handle;
}

}  // namespace

HeldInterrupts::HeldInterrupts() : event_(eventfd(0, EFD_CLOEXEC)), handle_(handle_of(event_)) {
  if (event_ < 0 || rte_intr_callback_register(handle_, wait, this) != 0) {
    throw std::runtime_error("DPDK's interrupt thread takes no further event (expected one)");
  }
  hold();
}

HeldInterrupts::~HeldInterrupts() {
  let_go();
  // It is refused while the thread still executes the callback.
  while (rte_intr_callback_unregister(handle_, wait, this) < 0) usleep(10);
  rte_intr_instance_free(handle_);
  close(event_);
}

void HeldInterrupts::hold() {
  eventfd_write(event_, 1);
  waits_.acquire();
}

void HeldInterrupts::wait(void* held) {
  auto& self = *static_cast<HeldInterrupts*>(held);
  eventfd_t count = 0;
  eventfd_read(self.event_, &count);
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

}  // namespace natxy::plumbing
