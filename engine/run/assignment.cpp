#include "run/assignment.hpp"

#include <algorithm>

#include "run/words.hpp"

namespace natxy::run {
namespace {

using spec::Direction;
using spec::Side;

constexpr std::array kSides{Side::kLeft, Side::kRight};

bool has_receiver(const WorkerTasks& worker, Side side) {
  return std::ranges::any_of(worker.receivers,
                             [side](const ReceiverTask& task) { return task.side == side; });
}

// Returns how many workers only receive: at most one for each receive queue at which frames arrive,
// while each direction keeps a worker that sends. Of three workers and two directions, one
// receives.
unsigned receiving_workers(const AssignmentInput& input) {
  const auto directions = static_cast<unsigned>(input.directions.size());
  if (input.workers <= directions) return 0;
  return std::min(directions * input.receive_queues, input.workers - directions);
}

// Returns the number of senders of a direction: the sending workers are distributed evenly, up to
// the number of the port's transmit queues.
unsigned senders_of(Direction direction, const AssignmentInput& input, unsigned sending) {
  const auto fair = std::max(1U, sending / static_cast<unsigned>(input.directions.size()));
  return std::min(fair,
                  input.transmit_queues[static_cast<std::size_t>(spec::from_side(direction))]);
}

// Returns the worker that sends towards a side; the first one if none does.
unsigned sender_towards(Side side, const std::vector<WorkerTasks>& workers) {
  unsigned sender = 0;
  for (unsigned i = 0; i < workers.size(); ++i) {
    for (const auto& task : workers[i].senders) {
      if (spec::to_side(task.direction) == side) sender = i;
    }
  }
  return sender;
}

// Assigns the receive queues to the receiving workers in turn, those of the right side first;
// without such workers, to the worker that sends towards their side.
void place_receivers(std::vector<WorkerTasks>& workers, unsigned receiving, unsigned queues) {
  const auto sending = static_cast<unsigned>(workers.size()) - receiving;
  for (const auto side : kSides) {
    const auto first = side == Side::kRight ? 0 : queues;
    for (unsigned queue = 0; queue < queues; ++queue) {
      const auto worker =
          receiving == 0 ? sender_towards(side, workers) : sending + (first + queue) % receiving;
      workers[worker].receivers.push_back({side, {.index = queue, .count = queues}});
    }
  }
}

bool sends_first_from(const WorkerTasks& worker, Side side) {
  return std::ranges::any_of(worker.senders, [side](const SenderTask& task) {
    return task.share.index == 0 && spec::from_side(task.direction) == side;
  });
}

void place_services(std::vector<WorkerTasks>& workers) {
  for (const auto side : kSides) {
    auto owner = std::ranges::find_if(
        workers, [side](const auto& worker) { return sends_first_from(worker, side); });
    if (owner == workers.end()) {
      owner = std::ranges::find_if(
          workers, [side](const auto& worker) { return has_receiver(worker, side); });
    }
    owner->services.push_back(side);
  }
}

}  // namespace

std::vector<WorkerTasks> assign(const AssignmentInput& input) {
  const auto receiving = receiving_workers(input);
  const auto sending = input.workers - receiving;
  std::vector<WorkerTasks> workers(input.workers);
  unsigned next = 0;
  for (const auto direction : input.directions) {
    const auto count = senders_of(direction, input, sending);
    for (unsigned index = 0; index < count; ++index) {
      workers[next++ % sending].senders.push_back({direction, {.index = index, .count = count}});
    }
  }
  place_receivers(workers, receiving, input.receive_queues);
  place_services(workers);
  std::erase_if(workers, [](const auto& worker) {
    return worker.senders.empty() && worker.receivers.empty();
  });
  return workers;
}

std::vector<std::string> WorkerTasks::describe() const {
  std::vector<std::string> tasks;
  for (const auto& [direction, share] : senders) {
    tasks.push_back("send " + words(direction) + " " + std::to_string(share.index + 1) + "/" +
                    std::to_string(share.count));
  }
  for (const auto& [side, share] : receivers) {
    const auto part = " " + std::to_string(share.index + 1) + "/" + std::to_string(share.count);
    tasks.push_back("receive " + words(side) + (share.count == 1 ? "" : part));
  }
  for (const auto side : services) tasks.push_back("neighbours " + words(side));
  return tasks;
}

}  // namespace natxy::run
