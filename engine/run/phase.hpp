// Runs one phase of a trial: its senders and receivers on the device's workers, from the start to
// the end of the drain.
//
// For the template argument Device see port/device.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "run/assignment.hpp"
#include "run/receiver.hpp"
#include "run/sender.hpp"
#include "run/worker.hpp"
#include "watch/cpu_watch.hpp"

namespace natxy::run {

struct StreamReport {
  const StreamPlan* plan = nullptr;
  SenderReport sender;  // of all senders of the direction together
  unsigned senders = 0;
  std::shared_ptr<const ReceiverReport> receiver;
  LossRuns losses;
  std::uint64_t shared = 0;  // frames that arrived at more than one receive queue
  std::optional<TagPlan> tags;
};

struct WorkerSummary {
  int cpu = 0;
  std::vector<std::string> tasks;
  WorkerReport report;
};

struct PhaseReport {
  std::vector<StreamReport> streams;
  // By Side: what all receivers of the port recorded, also where no stream arrives.
  std::array<std::shared_ptr<const ReceiverReport>, 2> ports;
  // By Side and receive queue: the frames that its receiver received.
  std::array<std::vector<std::uint64_t>, 2> received;
  std::vector<WorkerSummary> workers;
  std::vector<watch::CpuWatch::Watched> watched;
  Ticks start = 0;
  std::uint64_t start_raw_ns = 0;  // by the kernel's raw monotonic clock
  Ticks end = 0;
  bool ended_early = false;
};

struct PhaseSetup {
  Ticks drain = 0;
  Ticks not_before = 0;  // the earliest start
  Ticks frame_timeout = kNever;
  bool realtime = false;
  std::optional<Ticks> tags_after;  // present if frames are tagged
  std::uint64_t tags = 0;
  bool variation = false;
  Ticks early_end = kNever;
  std::uint32_t burst_limit_frames = 0;  // 0: senders never pause
  Ticks lateness_tolerance = kNever;
  RecordRings* records = nullptr;  // null if frames are not recorded
  std::uint8_t phase = 0;
  std::uint32_t nonce = 0;
  // On arrival, by direction and kind.
  std::array<std::array<frame::HopLimits, 2>, 2> hop_limits{};
};

template <flow::Shape kShape, class Clock, class Device>
class Phase {
  using TaskSender = Sender<kShape, Clock, typename Device::TxQueue>;
  using TaskReceiver = Receiver<kShape, Clock, typename Device::RxQueue>;
  using TaskWorker = Worker<Clock, TaskSender, TaskReceiver, typename Device::Service>;

 public:
  Phase(Device& device, const std::vector<StreamPlan>& plans, const PhaseSetup& setup,
        const std::atomic<bool>& cancelled)
      : device_(device),
        plans_(plans),
        setup_(setup),
        tasks_(assign(assignment_input())),
        control_(count_senders(), setup.drain, cancelled, setup.not_before) {
    for (std::size_t side = 0; side < 2; ++side) make_receivers(static_cast<spec::Side>(side));
    for (const auto& tasks : tasks_) workers_.push_back(make_worker(tasks));
    tell_receivers();
  }

  void start() {
    const auto lead = device_.ticks().from_ns(kLeadNs);
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      device_.launch(
          static_cast<unsigned>(i),
          [this, i, lead] {
            workers_[i]->run(control_, static_cast<unsigned>(workers_.size()), lead);
          },
          setup_.realtime);
    }
  }
  [[nodiscard]] bool running() const { return device_.running(); }
  void join() { device_.join(); }

  [[nodiscard]] bool draining() const { return control_.draining(); }
  [[nodiscard]] std::array<std::uint64_t, 2> sent() const {
    std::array<std::uint64_t, 2> counts{};
    for (const auto& [direction, sender] : senders_) {
      counts[static_cast<std::size_t>(direction)] += sender->progress();
    }
    return counts;
  }
  [[nodiscard]] std::array<std::uint64_t, 2> received() const {
    return {received_at(spec::Side::kRight), received_at(spec::Side::kLeft)};
  }

  // Returns the results of the phase. Called after join().
  [[nodiscard]] PhaseReport report() const {
    PhaseReport report{
        .start = control_.start(), .end = control_.end(), .ended_early = control_.ended_early()};
    for (std::size_t side = 0; side < 2; ++side) {
      auto port = receivers_[side].front()->report();
      for (std::size_t i = 1; i < receivers_[side].size(); ++i) {
        port.merge(receivers_[side][i]->report());
      }
      for (const auto& receiver : receivers_[side]) {
        report.received[side].push_back(receiver->progress());
      }
      if (setup_.records != nullptr) port.records_lost = setup_.records->by_side[side].take_lost();
      report.ports[side] = std::make_shared<const ReceiverReport>(std::move(port));
    }
    for (const auto& plan : plans_) {
      StreamReport stream{.plan = &plan};
      for (const auto& [direction, sender] : senders_) {
        if (direction != plan.direction) continue;
        merge(stream.sender, sender->report());
        ++stream.senders;
      }
      const auto to = static_cast<std::size_t>(plan.to());
      const auto sent = stream.sender.sent[0] + stream.sender.sent[1];
      stream.receiver = report.ports[to];
      stream.losses = arrivals_[to]->losses(sent);
      stream.shared = arrivals_[to]->shared();
      stream.tags = tags_of(plan);
      report.streams.push_back(std::move(stream));
    }
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      report.workers.push_back({.cpu = device_.worker_cpu(static_cast<unsigned>(i)),
                                .tasks = tasks_[i].describe(),
                                .report = workers_[i]->report});
    }
    return report;
  }

 private:
  // The fastest that a port delivers frames, at any rate of the stream: 64-octet frames at
  // 100 Gbit/s.
  static constexpr std::uint64_t kFastestArrivalsFps = 150'000'000;
  // A frame that leaves later by the current schedule, and a round of a worker's loop that takes
  // longer, are told with their times.
  static constexpr std::uint64_t kLateNs = 50'000;
  static constexpr std::uint64_t kLongRoundNs = 100'000;
  // Long enough for all threads to leave the barrier before the phase starts.
  static constexpr std::uint64_t kLeadNs = 100'000;

  [[nodiscard]] AssignmentInput assignment_input() const {
    AssignmentInput input{.workers = device_.workers(), .receive_queues = device_.rx_queues()};
    for (const auto& plan : plans_) input.directions.push_back(plan.direction);
    for (std::size_t side = 0; side < 2; ++side) {
      input.transmit_queues[side] = device_.tx_queues(static_cast<spec::Side>(side));
    }
    // A stream that uses each connection once, or that has background frames too, gets one sender:
    // with several, a sender's share of the connections might not match its share of the frames.
    for (const auto& plan : plans_) {
      const auto& connections = plan.kind(spec::Kind::kForeground).connections;
      if (connections && (connections->ends() || plan.mix.mixed())) {
        input.transmit_queues[static_cast<std::size_t>(plan.from())] = 1;
      }
    }
    return input;
  }

  [[nodiscard]] std::uint64_t received_at(spec::Side side) const {
    std::uint64_t received = 0;
    for (const auto& receiver : receivers_[static_cast<std::size_t>(side)]) {
      received += receiver->progress();
    }
    return received;
  }

  [[nodiscard]] unsigned count_senders() const {
    std::size_t count = 0;
    for (const auto& tasks : tasks_) count += tasks.senders.size();
    return static_cast<unsigned>(count);
  }

  [[nodiscard]] const StreamPlan* arriving_at(spec::Side side) const {
    for (const auto& plan : plans_) {
      if (plan.to() == side) return &plan;
    }
    return nullptr;
  }
  [[nodiscard]] SentHere sent_from(spec::Side side) const {
    for (const auto& plan : plans_) {
      if (plan.from() == side) return plan.quotations();
    }
    return {};
  }
  [[nodiscard]] const StreamPlan& plan_of(spec::Direction direction) const {
    for (const auto& plan : plans_) {
      if (plan.direction == direction) return plan;
    }
    __builtin_unreachable();  // assign() names no other direction
  }

  void make_receivers(spec::Side side) {
    const auto* plan = arriving_at(side);
    ReceiverSetup setup{.tag = plans_.front().tag,
                        .sent_here = sent_from(side),
                        .frame_timeout = setup_.frame_timeout,
                        .early_end = setup_.early_end,
                        .control = &control_};
    if (plan != nullptr) {
      auto& arrivals = arrivals_[static_cast<std::size_t>(side)];
      arrivals = std::make_unique<Arrivals>(window_of(*plan), device_.rx_queues());
      setup.arrivals = arrivals.get();
      setup.tags = tags_of(*plan);
      setup.variation = setup_.variation;
      setup.sent = &sent_[static_cast<std::size_t>(plan->direction)];
      setup.ring_frames = device_.rx_ring_frames(side);
      setup.long_absence = Period(kFastestArrivalsFps, device_.ticks()).at(setup.ring_frames);
      if (setup_.records != nullptr) {
        setup.records = &setup_.records->of(side);
        setup.record = {.phase = setup_.phase, .direction = plan->direction, .nonce = setup_.nonce};
      }
      setup.hop_limits = setup_.hop_limits[static_cast<std::size_t>(plan->direction)];
      for (const auto& tasks : tasks_) {
        for (const auto& sender : tasks.senders) {
          if (sender.direction == plan->direction) setup.senders = sender.share.count;
        }
      }
    }
    for (unsigned queue = 0; queue < device_.rx_queues(); ++queue) {
      setup.receiver = queue;
      receivers_[static_cast<std::size_t>(side)].push_back(
          std::make_unique<TaskReceiver>(plan, setup, device_.rx_queue(side, queue)));
      setup.early_end = kNever;  // one receiver looks for losses at all of them
    }
  }

  [[nodiscard]] std::optional<TagPlan> tags_of(const StreamPlan& plan) const {
    // Latency is measured in phase 2 (RFC 9693).
    if (!setup_.tags_after || plan.takes_each_once()) return std::nullopt;
    return TagPlan(plan.schedule, *setup_.tags_after, setup_.tags);
  }

  [[nodiscard]] Catching catching(const StreamPlan& plan) const {
    const auto late = device_.ticks().from_ns(kLateNs);
    if (setup_.burst_limit_frames == 0) return {.late = late};
    // More overdue frames than a burst has would merge two bursts.
    const auto frames =
        std::min<std::uint64_t>(setup_.burst_limit_frames, plan.schedule.shortest_burst());
    return {.limit = std::min(time_of(plan, frames), setup_.lateness_tolerance), .late = late};
  }

  // Returns how long this many frames take at the stream's highest rate (for bursts: mean rate).
  [[nodiscard]] Ticks time_of(const StreamPlan& plan, std::uint64_t frames) const {
    const auto rate_fps = plan.schedule.max_rate_fps();
    if (rate_fps == 0) return kNever;  // nothing to send, because no connection is missing
    return Period(rate_fps, device_.ticks()).at(frames);
  }

  // Gives the receivers access to the numbers that have left. The senders of a direction are in the
  // order of their shares.
  void tell_receivers() {
    for (const auto& [direction, sender] : senders_) {
      sent_[static_cast<std::size_t>(direction)].add(sender->sent(), &sender->bases());
    }
  }

  // Returns the size of the receive window: the frames that leave within the drain plus a second.
  // Frames that arrive later than that are late anyway.
  [[nodiscard]] std::uint64_t window_of(const StreamPlan& plan) const {
    const auto span = static_cast<double>(setup_.drain) / static_cast<double>(device_.ticks().hz());
    const auto frames = static_cast<double>(plan.schedule.max_rate_fps()) * (span + 1);
    return std::min(plan.schedule.frames(),
                    static_cast<std::uint64_t>(frames) + 1 + plan.schedule.longest_burst());
  }

  [[nodiscard]] std::unique_ptr<TaskWorker> make_worker(const WorkerTasks& tasks) {
    auto worker = std::make_unique<TaskWorker>();
    worker->long_round = device_.ticks().from_ns(kLongRoundNs);
    for (const auto& [direction, share] : tasks.senders) {
      auto& queue = device_.tx_queue(spec::from_side(direction), share.index);
      const auto& plan = plan_of(direction);
      senders_.push_back({direction, std::make_unique<TaskSender>(plan, share, queue, control_,
                                                                  catching(plan), tags_of(plan))});
      worker->senders.push_back(senders_.back().second.get());
    }
    for (const auto& [side, share] : tasks.receivers) {
      worker->receivers.push_back(receivers_[static_cast<std::size_t>(side)][share.index].get());
    }
    for (const auto side : tasks.services) worker->services.push_back(&device_.service(side));
    return worker;
  }

  Device& device_;
  const std::vector<StreamPlan>& plans_;
  PhaseSetup setup_;
  std::vector<WorkerTasks> tasks_;
  Control control_;
  std::vector<std::pair<spec::Direction, std::unique_ptr<TaskSender>>> senders_;
  std::array<SentNumbers, 2> sent_;                    // by direction
  std::array<std::unique_ptr<Arrivals>, 2> arrivals_;  // by Side; null where no stream arrives
  std::array<std::vector<std::unique_ptr<TaskReceiver>>, 2> receivers_;  // by Side and queue
  std::vector<std::unique_ptr<TaskWorker>> workers_;
};

}  // namespace natxy::run
