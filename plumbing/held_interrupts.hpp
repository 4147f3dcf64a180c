// Holds DPDK's interrupt thread while a program uses ports whose driver unmaps their rings in that
// thread.
//
// When the peer of a memif ends, the driver unmaps the rings in the interrupt thread, even while
// another thread sends or receives: the process then dies of SIGSEGV. So the interrupt thread only
// runs where no thread uses such a port; a peer that has ended is noticed then.
#pragma once

#include <semaphore>

struct rte_intr_handle;

namespace natxy::plumbing {

// The functions are called by one thread at a time. Throws std::runtime_error if DPDK takes no
// further event.
class HeldInterrupts {
 public:
  HeldInterrupts();
  ~HeldInterrupts();
  HeldInterrupts(const HeldInterrupts&) = delete;
  HeldInterrupts& operator=(const HeldInterrupts&) = delete;

  // Lets the interrupt thread handle all events that are pending.
  void let_pass();

  // While it exists, the interrupt thread runs.
  class Released {
   public:
    explicit Released(HeldInterrupts& held) : held_(held) { held_.let_go(); }
    ~Released() { held_.hold(); }
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;

   private:
    HeldInterrupts& held_;
  };

 private:
  static void wait(void* held);  // what the interrupt thread executes
  void hold();
  void let_go() { go_on_.release(); }

  int event_;
  rte_intr_handle* handle_;
  std::binary_semaphore waits_{0};  // the interrupt thread waits
  std::binary_semaphore go_on_{0};
};

}  // namespace natxy::plumbing
