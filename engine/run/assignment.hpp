// Which worker does what: computed from the number of workers and the active directions, so that
// nothing assumes a number of cores.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "run/sender.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::run {

struct SenderTask {
  spec::Direction direction;
  Share share;  // share.index is also the transmit queue
};

struct WorkerTasks {
  std::vector<SenderTask> senders;
  std::vector<spec::Side> receivers;  // both ports are always polled, by one worker each
  std::vector<spec::Side> services;   // the neighbour responder of a side, with transmit queue 0
  [[nodiscard]] std::vector<std::string> describe() const;
};

struct AssignmentInput {
  unsigned workers = 1;
  std::vector<spec::Direction> directions;        // active, one or two
  std::array<unsigned, 2> transmit_queues{1, 1};  // by spec::Side: how many senders a port takes
};

// One worker does all; two have a direction each; three have a sender each and share receiving on
// the third; four are siitperf's layout; more are several senders a direction.
[[nodiscard]] std::vector<WorkerTasks> assign(const AssignmentInput& input);

[[nodiscard]] constexpr spec::Side from_side(spec::Direction direction) {
  return direction == spec::Direction::kForward ? spec::Side::kLeft : spec::Side::kRight;
}
[[nodiscard]] constexpr spec::Side to_side(spec::Direction direction) {
  return direction == spec::Direction::kForward ? spec::Side::kRight : spec::Side::kLeft;
}

}  // namespace natxy::run
