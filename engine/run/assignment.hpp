// Assigns tasks to workers. The assignment follows from the number of workers and the active
// directions, so nothing else depends on the number of cores.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "spec/trial_spec.hpp"

namespace natxy::run {

// The share of a stream's numbers that one sender sends.
struct Share {  // index, index + count, ...
  unsigned index = 0;
  unsigned count = 1;
};

struct SenderTask {
  spec::Direction direction;
  Share share;  // share.index is also the transmit queue
};

struct ReceiverTask {
  spec::Side side;
  Share share{};  // share.index is also the receive queue
};

struct WorkerTasks {
  std::vector<SenderTask> senders;
  // Both ports are always polled, each receive queue by one worker.
  std::vector<ReceiverTask> receivers;
  std::vector<spec::Side> services;  // sides whose neighbour responder runs here (queue 0)
  [[nodiscard]] std::vector<std::string> describe() const;
};

struct AssignmentInput {
  unsigned workers = 1;
  std::vector<spec::Direction> directions;        // the active ones, one or two
  std::array<unsigned, 2> transmit_queues{1, 1};  // by spec::Side: the most senders of a port
  unsigned receive_queues = 1;                    // of each port; all of them are polled
};

// Returns the tasks of each worker. With two directions:
// - One worker has all tasks.
// - Two workers have one direction each.
// - Of three workers, two send one direction each and the third receives on both sides.
// - Of four workers, two send and two receive, as in siitperf.
// - With more workers, each further receive queue gets a worker, while two workers are left to
// send.
//   With still more, a direction has several senders.
[[nodiscard]] std::vector<WorkerTasks> assign(const AssignmentInput& input);

}  // namespace natxy::run
