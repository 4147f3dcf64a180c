// A core and the tasks that it steps in turn.
#pragma once

#include <algorithm>
#include <vector>

#include "run/clock.hpp"
#include "run/control.hpp"
#include "run/thread_usage.hpp"

namespace natxy::run {

struct WorkerReport {
  ThreadUsage usage;
  Ticks worst_loop_gap = 0;
  Ticks ran = 0;  // from the start to the end of the loop; what of it is not CPU time was elsewhere
};

// Service: the neighbour responder of a port; see port/neighbour_task.hpp.
template <class Clock, class Sender, class Receiver, class Service>
struct Worker {
  std::vector<Sender*> senders;
  std::vector<Receiver*> receivers;
  std::vector<Service*> services;
  WorkerReport report;

  // Runs until the phase is over; `workers` threads run at once.
  void run(Control& control, unsigned workers, Ticks lead) {
    const auto start = control.template arrive<Clock>(workers, lead);
    for (auto* sender : senders) sender->begin(start);
    for (auto* receiver : receivers) receiver->begin(start);
    const auto before = ThreadUsage::now();
    const auto began = Clock::now();
    loop(control);
    take_the_rest();
    report.usage = ThreadUsage::now().since(before);
    report.ran = Clock::now() - began;
  }

 private:
  // Each sender gets a clock of its own, since the one before it may have spent long in a send
  // call.
  void loop(Control& control) {
    auto last = Clock::now();
    for (auto now = last; !control.over(now); last = now, now = Clock::now()) {
      report.worst_loop_gap = std::max(report.worst_loop_gap, now - last);
      auto sending = now;
      for (std::size_t i = 0; i < senders.size(); ++i) {
        if (i > 0) sending = Clock::now();
        senders[i]->step(sending);
      }
      for (auto* receiver : receivers) receiver->step(sending);
      for (auto* service : services) service->step(sending);
    }
  }

  // A thread that was kept from its core until the drain was over finds in the ring what came in
  // time: that is no loss of the gateway's. Bounded, since frames may never end.
  void take_the_rest() {
    constexpr unsigned kPolls = 512;  // of 32 frames: more than any ring holds
    for (auto* receiver : receivers) {
      for (unsigned poll = 0; poll < kPolls && receiver->step(Clock::now()); ++poll) {
      }
    }
  }
};

}  // namespace natxy::run
