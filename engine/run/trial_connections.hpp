// The connections of a trial: the state table, and the number of connections in it.
//
// Used by the main thread between phases.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "flow/flow.hpp"
#include "run/phase.hpp"
#include "run/state_table.hpp"
#include "spec/rules.hpp"
#include "spec/trial_result.hpp"

namespace natxy::run {

// Sums up how a gateway has given out its external addresses and ports: how evenly, and in blocks
// of ports or not (RFC 6888, RFC 7422).
//
// stored: the number of connections in the table. flow: that of the stream that made them, whose
// sources are the inside hosts. Needs 12 octets for each connection, and a second for some million.
[[nodiscard]] spec::Mappings mappings_of(const StateTable& table, std::uint64_t stored,
                                         const flow::Flow& flow);

class TrialConnections {
 public:
  // Prepares an empty state table in memory near the worker that will fill it; none for a stateless
  // trial. Calls `told` every millisecond, because a large table takes seconds.
  template <class Device, class Progress>
  void prepare(const spec::TrialSpec& spec, Device& device, const Progress& progress,
               const std::atomic<bool>& cancelled) {
    table_ = {};
    stored_ = answered_ = 0;
    const auto* establishing = spec::establishing_stream(spec);
    if (establishing == nullptr) return;
    table_ = memory_.reserve(spec::entries_of(spec));
    if (!memory_.touched()) touch(filler(*establishing, device), device, progress, cancelled);
    if (establishing->foreground->arrival.ip_version == spec::IpVersion::k6) {
      table_.addresses().prepare();
    }
  }

  [[nodiscard]] StateTable& table() { return table_; }

  // Completes the plans of a phase: how many frames a stream sends that uses each connection once
  // is known only now.
  void before(std::vector<StreamPlan>& plans, const spec::Phase& phase, TickRate ticks) const {
    for (std::size_t i = 0; i < plans.size(); ++i) {
      auto& use = plans[i].kinds[0].connections;
      if (!use || use->role == spec::Role::kEstablish) continue;
      use->walk.whole = usable(*use) == use->walk.connections;
      if (!use->ends()) continue;
      const auto planned = spec::frames_of(phase.streams[i], spec::Kind::kForeground);
      const auto left = left_for(*use);
      if (left < planned) shorten(plans[i], phase.streams[i], left, ticks);
    }
  }

  void after(const PhaseReport& phase) {
    for (const auto& stream : phase.streams) {
      stored_ += stream.receiver->connections.stored;
      answered_ += stream.receiver->connections.answered;
    }
  }

  // Returns whether there are too few connections for the next phase.
  [[nodiscard]] bool too_few(const spec::Phase& phase) const {
    const auto there = asks(phase) ? answered_ : stored_;
    return table_.entries() > 0 && there < std::max<std::uint64_t>(1, phase.minimum_connections);
  }

  // flow: that of the establishing stream if the mappings are asked for, else null.
  [[nodiscard]] std::optional<spec::ConnectionTable> result(const flow::Flow* flow) const {
    if (table_.entries() == 0) return std::nullopt;
    spec::ConnectionTable result{.asked = table_.entries(),
                                 .stored = stored_,
                                 .bytes = table_.entries() * sizeof(std::uint64_t),
                                 .page_bytes = memory_.page_bytes(),
                                 .mappings = std::nullopt};
    if (flow != nullptr) result.mappings = mappings_of(table_, stored_, *flow);
    return result;
  }

 private:
  // Returns whether the phase validates connections: it has a responder, and a minimum or SYN/ACKs.
  [[nodiscard]] static bool asks(const spec::Phase& phase) {
    return std::ranges::any_of(phase.streams, [&](const spec::Stream& stream) {
      const auto& traffic = stream.foreground;
      return traffic && traffic->connections &&
             traffic->connections->role == spec::Role::kRespond &&
             (phase.minimum_connections > 0 ||
              traffic->connections->segment == spec::TcpSegment::kSyn);
    });
  }
  // Returns how many connections exist for a stream.
  [[nodiscard]] std::uint64_t usable(const ConnectionPlan& use) const {
    return use.walk.answered ? answered_ : stored_;
  }
  [[nodiscard]] std::uint64_t left_for(const ConnectionPlan& use) const {
    if (use.walk.order == spec::Order::kLinear) return usable(use);
    return use.responds() ? stored_ - answered_ : use.walk.connections - stored_;
  }

  template <class Device, class Progress>
  void touch(unsigned worker, Device& device, const Progress& progress,
             const std::atomic<bool>& cancelled) {
    progress();
    const auto work = [&] {
      while (!cancelled.load() && !memory_.touched()) memory_.touch();
    };
    for (device.launch(worker, work, false); device.running(); progress()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    device.join();
  }

  // Returns the worker that receives the establishing stream.
  template <class Device>
  [[nodiscard]] static unsigned filler(const spec::Stream& establishing, Device& device) {
    AssignmentInput input{.workers = device.workers(),
                          .directions = {establishing.direction},
                          .receive_queues = device.rx_queues()};
    const auto tasks = assign(input);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const auto to = spec::to_side(establishing.direction);
      if (std::ranges::count(tasks[i].receivers, to, &ReceiverTask::side) > 0) {
        return static_cast<unsigned>(i);
      }
    }
    return 0;
  }

  TableMemory memory_;
  StateTable table_;
  std::uint64_t stored_ = 0;
  std::uint64_t answered_ = 0;
};

}  // namespace natxy::run
