// Sends probe frames of each stream and kind until one of each has arrived. Then the path is open
// in each direction, and the hop limits on arrival are known.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "run/clock.hpp"
#include "run/receiver_report.hpp"
#include "run/stream_plan.hpp"
#include "spec/event.hpp"

namespace natxy::run {

// The state of the warm-up for one kind of traffic of a stream.
struct Probe {
  const StreamPlan* plan;
  spec::Kind kind;
  std::uint64_t sent = 0;
  std::optional<frame::Defect> defect;  // defect of the last probe that was not correct
  frame::HopLimits hop_limits{};        // of the correct probe that arrived

  [[nodiscard]] bool arrived() const { return hop_limits.inner != 0; }
};

[[nodiscard]] std::vector<Probe> probes_of(const std::vector<StreamPlan>& plans);
// Names the streams whose probes did not arrive: "no probe frame arrived within 5 s; forward
// foreground: 12 sent from the left, none arrived on the right".
[[nodiscard]] std::string missing_probes(const std::vector<Probe>& probes,
                                         std::uint64_t timeout_ns);

template <class Clock, class Device>
class WarmUp {
 public:
  WarmUp(Device& device, const std::vector<StreamPlan>& plans)
      : device_(device), probes_(probes_of(plans)) {}

  // Sends probes until all kinds have one that arrived. Calls `poll` between attempts. Throws
  // spec::TrialError with the ICMP errors that arrived if the timeout expires.
  const std::vector<Probe>& run(std::uint64_t timeout_ns, const std::function<void()>& poll,
                                const std::atomic<bool>& cancelled) {
    const auto end = Clock::now() + device_.ticks().from_ns(timeout_ns);
    const auto interval = device_.ticks().from_ns(kIntervalNs);
    for (Ticks next = 0; !all_through();) {
      const auto now = Clock::now();
      if (cancelled.load()) return probes_;
      if (now >= end) {
        throw spec::TrialError(spec::ErrorKind::kWarmUp, missing_probes(probes_, timeout_ns),
                               {icmp_[0].result().listed, icmp_[1].result().listed});
      }
      if (now >= next) {
        send();
        next = now + interval;
        poll();
      }
      for (unsigned queue = 0; queue < device_.rx_queues(); ++queue) {
        receive(spec::Side::kLeft, queue);
        receive(spec::Side::kRight, queue);
      }
    }
    return probes_;
  }

 private:
  static constexpr std::uint64_t kIntervalNs = 5'000'000;
  // Correct for each flow, because what does not vary is not patched.
  static constexpr flow::Shape kShape{.addresses_vary = true, .enumerated = true};

  [[nodiscard]] bool all_through() const { return std::ranges::all_of(probes_, &Probe::arrived); }

  void send() {
    for (auto& probe : probes_) {
      if (probe.arrived()) continue;
      auto& queue = device_.tx_queue(probe.plan->from(), 0);
      typename Device::TxQueue::Frame frame;
      if (!queue.allocate(static_cast<unsigned>(probe.kind), &frame, 1)) continue;
      patch(probe, queue.data(frame));
      if (queue.send(&frame, 1) == 1) {
        ++probe.sent;
      } else {
        queue.release(&frame, 1);
      }
    }
  }

  // Patches a probe. All probes have ordinal 0: they test the path, not the flows.
  static void patch(const Probe& probe, std::uint8_t* octets) {
    constexpr std::uint64_t kFirst = 0;
    constexpr std::uint32_t kPunctual = 0;
    const auto& kind = probe.plan->kind(probe.kind);
    flow::ValueLot values;
    kind.flow.template fill<kShape>(&kFirst, 1, values);
    frame::StampLot stamps;
    stamps.fill(probe.plan->tag, frame::StreamId(probe.plan->direction, probe.kind, 0, true),
                &kFirst, &kPunctual, 1);
    if (kind.departure.avoids_zero_checksum()) {
      kind.departure.template avoid_zero_checksum<kShape>(values, stamps, 1);
    }
    kind.departure.template patch<kShape>(&octets, 1, values, stamps);
  }

  void receive(spec::Side side, unsigned index) {
    using Queue = typename Device::RxQueue;
    auto& queue = device_.rx_queue(side, index);
    std::array<typename Queue::Frame, 32> frames;
    const auto n = queue.receive(frames.data(), static_cast<unsigned>(frames.size()));
    for (unsigned i = 0; i < n; ++i) {
      const auto* data = Queue::data(frames[i]);
      const auto size = Queue::length(frames[i]);
      if (frame::concerns_neighbours(data, size)) {
        queue.defer(frames[i]);
        continue;
      }
      take(layouts_at(side).claim(data, size, probes_.front().plan->tag), side);
      icmp_[static_cast<std::size_t>(side)].look_at(data, size, sent_from(side));
      queue.release(&frames[i], 1);
    }
    device_.service(side).step(Clock::now());
  }

  [[nodiscard]] frame::Layouts layouts_at(spec::Side side) const {
    for (const auto& probe : probes_) {
      if (probe.plan->to() == side) return probe.plan->layouts;
    }
    return {};
  }

  [[nodiscard]] SentHere sent_from(spec::Side side) const {
    for (const auto& probe : probes_) {
      if (probe.plan->from() == side) return probe.plan->quotations();
    }
    return {};
  }

  void take(const frame::Claimed& claimed, spec::Side side) {
    if (claimed.layout == nullptr || !claimed.stamp.stream().probe()) return;
    for (auto& probe : probes_) {
      const frame::StreamId expected(probe.plan->direction, probe.kind, 0, true);
      if (probe.plan->to() != side || claimed.stamp.stream() != expected) continue;
      const auto defect = judge(probe, claimed);
      if (defect == frame::Defect::kNone) {
        probe.hop_limits = claimed.hop_limits();
      } else {
        probe.defect = defect;
      }
    }
  }

  [[nodiscard]] static frame::Defect judge(const Probe& probe, const frame::Claimed& claimed) {
    const auto& kind = probe.plan->kind(probe.kind);
    const auto form = frame::defect_of_form(claimed, kind.arrival.may_lack_checksum());
    if (form != frame::Defect::kNone) return form;
    auto expected = claimed.hop_limits();
    if (kind.hop_limit != 0) expected.inner = kind.hop_limit;
    return kind.arrival.check(claimed, kind.flow.template at<kShape>(0), expected);
  }

  Device& device_;
  std::vector<Probe> probes_;
  std::array<IcmpTally, 2> icmp_;  // by Side
};

}  // namespace natxy::run
