#include "run/assignment.hpp"

#include <algorithm>

#include "run/words.hpp"

namespace natxy::run {
namespace {

using spec::Direction;
using spec::Side;

constexpr std::array kSides{Side::kLeft, Side::kRight};

// Returns how many workers only receive.
unsigned receiving_workers(unsigned workers, std::size_t directions) {
  if (directions == 2) return workers <= 2 ? 0 : workers == 3 ? 1 : 2;
  return workers == 1 ? 0 : 1;
}

// Returns the number of senders of a direction: the sending workers are distributed evenly, up to
// the number of the port's transmit queues.
unsigned senders_of(Direction direction, const AssignmentInput& input, unsigned sending) {
  const auto fair = std::max(1U, sending / static_cast<unsigned>(input.directions.size()));
  return std::min(fair,
                  input.transmit_queues[static_cast<std::size_t>(spec::from_side(direction))]);
}

// Assigns the receiver of each side to a receiving worker; without one, to the worker that sends
// towards that side.
void place_receivers(std::vector<WorkerTasks>& workers, unsigned receiving) {
  const auto sending = static_cast<unsigned>(workers.size()) - receiving;
  for (const auto side : kSides) {
    auto worker = receiving == 0 ? 0 : sending + (receiving == 2 && side == Side::kLeft ? 1U : 0U);
    for (unsigned i = 0; receiving == 0 && i < sending; ++i) {
      for (const auto& task : workers[i].senders) {
        if (spec::to_side(task.direction) == side) worker = i;
      }
    }
    workers[worker].receivers.push_back(side);
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
      owner = std::ranges::find_if(workers, [side](const auto& worker) {
        return std::ranges::find(worker.receivers, side) != worker.receivers.end();
      });
    }
    owner->services.push_back(side);
  }
}

}  // namespace

std::vector<WorkerTasks> assign(const AssignmentInput& input) {
  const auto receiving = receiving_workers(input.workers, input.directions.size());
  const auto sending = input.workers - receiving;
  std::vector<WorkerTasks> workers(input.workers);
  unsigned next = 0;
  for (const auto direction : input.directions) {
    const auto count = senders_of(direction, input, sending);
    for (unsigned index = 0; index < count; ++index) {
      workers[next++ % sending].senders.push_back({direction, {.index = index, .count = count}});
    }
  }
  place_receivers(workers, receiving);
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
  for (const auto side : receivers) tasks.push_back("receive " + words(side));
  for (const auto side : services) tasks.push_back("neighbours " + words(side));
  return tasks;
}

}  // namespace natxy::run
