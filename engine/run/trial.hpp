// Runs a trial from the request to the result: neighbours, warm-up, phases, drain.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "run/outcome.hpp"
#include "run/phase.hpp"
#include "run/trial_connections.hpp"
#include "run/warm_up.hpp"
#include "spec/event.hpp"
#include "spec/rules.hpp"
#include "watch/cpu_watch.hpp"

namespace natxy::run {

// Calls `use` with the shape as a template argument. So the hot loops are compiled for each
// combination of what varies, and one is chosen per phase.
template <class Use>
auto dispatch(flow::Shape shape, Use&& use) {
  using flow::Shape;
  // One for all TCP, whether addresses vary or not, because each takes long to compile.
  if (shape.tcp) {
    return use.template
    operator()<Shape{.addresses_vary = true, .enumerated = true, .connected = true, .tcp = true}>();
  }
  if (shape.connected) {
    return shape.addresses_vary
               ? use.template
                 operator()<Shape{.addresses_vary = true, .enumerated = true, .connected = true}>()
               : use.template operator()<Shape{
                     .addresses_vary = false, .enumerated = true, .connected = true}>();
  }
  if (shape.enumerated) {
    return shape.addresses_vary
               ? use.template operator()<Shape{.addresses_vary = true, .enumerated = true}>()
               : use.template operator()<Shape{.addresses_vary = false, .enumerated = true}>();
  }
  return shape.addresses_vary
             ? use.template operator()<Shape{.addresses_vary = true, .enumerated = false}>()
             : use.template operator()<Shape{.addresses_vary = false, .enumerated = false}>();
}

// Called about every 10 ms while a trial runs; reads requests and reports progress.
using Poll = std::function<void(const spec::Progress&)>;

template <class Clock, class Device>
class TrialRunner {
 public:
  // records: the rings for the records of frames; null if nobody reads records.
  explicit TrialRunner(Device& device, RecordRings* records = nullptr)
      : device_(device), records_(records) {}

  // Runs one trial. Throws spec::TrialError, also if the trial is cancelled.
  spec::TrialResult run(const spec::TrialSpec& spec, const Poll& poll,
                        const std::atomic<bool>& cancelled) {
    check_recording(spec.recording);
    if (spec.recording.frames) allocate_records();
    TrialMeasure measure{.requested = Clock::now()};
    progress_ = {.duration_ns = planned_ns(spec)};
    requested_ = measure.requested;
    const auto progress = [&](spec::Stage stage) {
      progress_.stage = stage;
      progress_.elapsed_ns = elapsed_ns();
      poll(progress_);
    };
    progress(spec::Stage::kNeighbours);
    connections_.prepare(spec, device_, [&] { progress(spec::Stage::kTable); }, cancelled);
    stop_if(cancelled);
    auto plans = prepare(spec, [&] { progress(spec::Stage::kNeighbours); }, cancelled);
    stop_if(cancelled);
    auto setup = phase_setup(spec, plans.front());
    if (spec.warm_up.mode == spec::WarmUpMode::kProbes) {
      fill(plans.front());
      WarmUp<Clock, Device> warm_up(device_, plans.front());
      learn(warm_up.run(
                spec.warm_up.timeout_ns, [&] { progress(spec::Stage::kWarmUp); }, cancelled),
            setup);
      stop_if(cancelled);
    }
    const std::array before{device_.counters(spec::Side::kLeft),
                            device_.counters(spec::Side::kRight)};
    const std::array clocks{device_.arrival_clock(spec::Side::kLeft),
                            device_.arrival_clock(spec::Side::kRight)};
    watch::CpuWatch watch(spec.watched, device_.worker_cpu(0), known_cpus_);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      connections_.before(plans[i], spec.phases[i], device_.ticks());
      fill(plans[i]);
      setup.phase = static_cast<std::uint8_t>(i);
      measure.phases.push_back(run_phase(plans[i], setup, watch, progress, cancelled));
      watch.end();
      measure.phases.back().watched = seen(watch, measure.phases.back());
      measure.phases.back().start_raw_ns = raw_ns(measure.phases.back().start);
      stop_if(cancelled);
      connections_.after(measure.phases.back());
      take_over(measure.phases.back(), setup);
      if (measure.phases.back().ended_early) break;
      if (connections_.too_few(spec.phases[i])) {
        measure.incomplete = true;
        break;
      }
      if (i + 1 == plans.size()) continue;
      setup.not_before = measure.phases.back().end + device_.ticks().from_ns(spec.phases[i].gap_ns);
    }
    measure.unwatched_reason = watch.refusal();
    if (setup.records != nullptr) setup.records->settle(cancelled);
    for (std::size_t side = 0; side < 2; ++side) {
      const auto which = static_cast<spec::Side>(side);
      measure.ports[side] = {.moved = device_.counters(which) - before[side],
                             .clock = device_.arrival_clock(which) - clocks[side],
                             .rx_ring_frames = device_.rx_ring_frames(which),
                             .link_up = device_.link_up(which)};
    }
    measure.connections =
        connections_.result(spec.recording.mappings ? establishing_flow(plans.front()) : nullptr);
    return outcome(spec, measure, device_.ticks());
  }

 private:
  static constexpr std::chrono::milliseconds kPollEvery{10};
  static constexpr std::uint64_t kLaunchNs = 3'000'000;

  // A record of each frame has one producer a port, and a pair of frames must reach one receiver.
  void check_recording(const spec::Recording& recording) const {
    if (device_.rx_queues() == 1 || (!recording.frames && !recording.ipdv)) return;
    throw spec::TrialError(spec::ErrorKind::kSpec,
                           std::string("recording.") + (recording.frames ? "frames" : "ipdv") +
                               ": is true, but the engine has " +
                               std::to_string(device_.rx_queues()) +
                               " receive queues a port (expected --rx-queues 1)");
  }

  void allocate_records() {
    if (records_ != nullptr) return records_->allocate();
    throw spec::TrialError(spec::ErrorKind::kSpec,
                           "recording.frames: is true, but the engine was started without "
                           "--records-fd (expected false)");
  }

  // Returns the flow of the first phase's stream that makes connections; null if there is none.
  static const flow::Flow* establishing_flow(const std::vector<StreamPlan>& plans) {
    for (const auto& plan : plans) {
      const auto& foreground = plan.kinds[0];
      const auto& use = foreground.connections;
      if (use && use->role == spec::Role::kEstablish) return &foreground.flow;
    }
    return nullptr;
  }

  static void stop_if(const std::atomic<bool>& cancelled) {
    if (cancelled.load()) throw spec::TrialError(spec::ErrorKind::kCancelled, "cancelled");
  }

  [[nodiscard]] std::uint64_t elapsed_ns() const {
    return static_cast<std::uint64_t>(
        device_.ticks().to_ns(static_cast<double>(Clock::now() - requested_)));
  }

  [[nodiscard]] std::uint64_t planned_ns(const spec::TrialSpec& spec) const {
    double total = 0;
    for (const auto& phase : spec.phases) {
      Ticks longest = 0;
      for (const auto& stream : phase.streams) {
        longest = std::max(longest, Schedule(stream.segments, device_.ticks()).end());
      }
      total += device_.ticks().to_ns(static_cast<double>(longest)) +
               static_cast<double>(spec.drain_ns) + static_cast<double>(phase.gap_ns);
    }
    return static_cast<std::uint64_t>(total);
  }

  // Resolves the neighbours and compiles the streams of all phases.
  template <class Progress>
  std::vector<std::vector<StreamPlan>> prepare(const spec::TrialSpec& spec,
                                               const Progress& progress,
                                               const std::atomic<bool>& cancelled) {
    device_.resolve(spec, progress, cancelled);
    stop_if(cancelled);
    std::vector<std::vector<StreamPlan>> plans;
    for (std::size_t phase = 0; phase < spec.phases.size(); ++phase) {
      plans.emplace_back();
      for (const auto& stream : spec.phases[phase].streams) {
        const auto from = spec::from_side(stream.direction);
        const auto to = spec::to_side(stream.direction);
        plans.back().push_back(compile(stream, {.seed = spec.seed,
                                                .nonce = spec.nonce,
                                                .phase = phase,
                                                .ticks = device_.ticks(),
                                                .links = {device_.link(from, spec::IpVersion::k4),
                                                          device_.link(from, spec::IpVersion::k6)},
                                                .far_link = device_.link(to, spec::IpVersion::k4),
                                                .establishing = spec::establishing_stream(spec),
                                                .table = &connections_.table()}));
      }
    }
    return plans;
  }

  // Fills the pools of all senders with the templates of their streams; unchanged ones are skipped.
  void fill(const std::vector<StreamPlan>& plans) {
    for (const auto& plan : plans) {
      const bool headers_vary = plan.shape().addresses_vary || plan.shape().connected;
      for (unsigned queue = 0; queue < device_.tx_queues(plan.from()); ++queue) {
        for (const auto kind : {spec::Kind::kForeground, spec::Kind::kBackground}) {
          const auto& departure = plan.kind(kind).departure;
          if (departure.octets().empty()) continue;
          device_.tx_queue(plan.from(), queue)
              .fill(static_cast<unsigned>(kind), departure.octets(), departure.patched_at(),
                    headers_vary);
        }
      }
    }
  }

  [[nodiscard]] PhaseSetup phase_setup(const spec::TrialSpec& spec,
                                       const std::vector<StreamPlan>& plans) const {
    PhaseSetup setup{.drain = device_.ticks().from_ns(spec.drain_ns),
                     .frame_timeout = spec.frame_timeout_ns == 0
                                          ? kNever
                                          : device_.ticks().from_ns(spec.frame_timeout_ns),
                     .realtime = spec.realtime,
                     .variation = spec.recording.ipdv,
                     .burst_limit_frames = spec.burst_limit_frames,
                     .lateness_tolerance = device_.ticks().from_ns(spec.lateness_tolerance_ns)};
    if (spec.recording.frames) {
      setup.records = records_;
      setup.nonce = spec.nonce;
    }
    if (const auto& tags = spec.recording.tags) {
      setup.tags_after = device_.ticks().from_ns(tags->after_ns);
      setup.tags = tags->count;
    }
    // A frame may leave as late as the tolerance and still arrive in time.
    if (spec.early_end_ns > 0) {
      setup.early_end = device_.ticks().from_ns(spec.early_end_ns + spec.lateness_tolerance_ns);
    }
    for (const auto& plan : plans) {
      for (std::size_t kind = 0; kind < 2; ++kind) {
        setup.hop_limits[static_cast<std::size_t>(plan.direction)][kind].inner =
            plan.kinds[kind].hop_limit;
      }
    }
    return setup;
  }

  static void learn(const std::vector<Probe>& probes, PhaseSetup& setup) {
    for (const auto& probe : probes) {
      setup.hop_limits[static_cast<std::size_t>(probe.plan->direction)]
                      [static_cast<std::size_t>(probe.kind)] = probe.hop_limits;
    }
  }

  // Uses the hop limits that a phase has learned in the following phases.
  static void take_over(const PhaseReport& phase, PhaseSetup& setup) {
    for (const auto& stream : phase.streams) {
      for (std::size_t kind = 0; kind < 2; ++kind) {
        setup.hop_limits[static_cast<std::size_t>(stream.plan->direction)][kind] =
            stream.receiver->kinds[kind].hop_limits;
      }
    }
  }

  template <class Progress>
  PhaseReport run_phase(const std::vector<StreamPlan>& plans, const PhaseSetup& setup,
                        watch::CpuWatch& watch, const Progress& progress,
                        const std::atomic<bool>& cancelled) {
    flow::Shape shape;
    for (const auto& plan : plans) {
      shape.addresses_vary |= plan.shape().addresses_vary;
      shape.enumerated |= plan.shape().enumerated;
      shape.connected |= plan.shape().connected;
      shape.tcp |= plan.shape().tcp;
    }
    return dispatch(shape, [&]<flow::Shape kShape>() {
      Phase<kShape, Clock, Device> phase(device_, plans, setup, cancelled);
      wait_until(setup.not_before, progress,
                 cancelled);  // the phase is ready: that took up to 30 ms
      watch.begin();
      phase.start();
      while (phase.running()) {
        std::this_thread::sleep_for(kPollEvery);
        watch.collect();
        device_.watch_links();
        progress_.sent = phase.sent();
        progress_.received = phase.received();
        progress(phase.draining() ? spec::Stage::kDraining : spec::Stage::kSending);
      }
      phase.join();
      return phase.report();
    });
  }

  // Returns the absences from the phase's start until its last frame left and arrived, and one that
  // lasted to the end of the drain: a frame that waits until then is lost, too.
  [[nodiscard]] std::vector<watch::CpuWatch::Watched> seen(const watch::CpuWatch& watch,
                                                           const PhaseReport& phase) const {
    auto sent = phase.start;
    auto received = phase.start;
    for (const auto& stream : phase.streams) {
      sent = std::max(sent, stream.sender.last_departure);
      const auto came = stream.receiver->last_arrival;
      if (came != kNever) received = std::max(received, came);
    }
    return watch.seen({.start_ns = raw_ns(phase.start),
                       .sent_ns = raw_ns(sent),
                       .received_ns = raw_ns(received),
                       .end_ns = raw_ns(phase.end)});
  }

  // Returns a time that has passed by the kernel's raw monotonic clock.
  [[nodiscard]] std::uint64_t raw_ns(Ticks at) const {
    const auto now = Clock::now();
    const auto passed = static_cast<double>(now - std::min(at, now));
    return watch::raw_ns() - static_cast<std::uint64_t>(device_.ticks().to_ns(passed));
  }

  // Waits until it is time to launch the threads of the phase that starts at `start`.
  template <class Progress>
  void wait_until(Ticks start, const Progress& progress, const std::atomic<bool>& cancelled) {
    const auto launch = device_.ticks().from_ns(kLaunchNs);
    while (Clock::now() + launch < start) {
      for (const auto side : {spec::Side::kLeft, spec::Side::kRight}) {
        device_.service(side).step(Clock::now());
        device_.rx_queue(side, 0).tend(Clock::now());
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      device_.watch_links();
      progress(spec::Stage::kSending);
      stop_if(cancelled);
    }
  }

  Device& device_;
  RecordRings* records_;
  TrialConnections connections_;
  watch::KnownCpus known_cpus_;
  spec::Progress progress_;
  Ticks requested_ = 0;
};

}  // namespace natxy::run
