#include "run/outcome.hpp"

#include <algorithm>

#include "run/words.hpp"
#include "spec/names.hpp"

namespace natxy::run {
namespace {

using spec::Reason;
using spec::ReasonCode;
using Reasons = std::vector<Reason>;

double number(std::uint64_t count) {
  return static_cast<double>(count);
}

std::uint64_t sent_of(const spec::StreamResult& stream) {
  std::uint64_t sent = 0;
  for (const auto& kind : stream.kinds) sent += kind ? kind->sent : 0;
  return sent;
}

void judge_sending(const spec::StreamResult& stream, const SenderReport& sender, TickRate ticks,
                   Reasons& reasons) {
  if (sent_of(stream) == stream.due) return;
  Reason reason{.code = ReasonCode::kPortRefused,
                .where = spec::name_of(spec::kDirections, stream.direction),
                .facts = {{"sent", number(sent_of(stream))}, {"due", number(stream.due)}}};
  if (sender.gave_up == GaveUp::kBehind && stream.pauses.count > 0) {
    reason.code = ReasonCode::kGaveUpPaused;
    reason.facts["paused_ns"] = stream.pauses.total_ns;
  } else if (sender.gave_up == GaveUp::kBehind) {
    reason.code = ReasonCode::kGaveUpLate;
    reason.facts["late_ns"] = ticks.to_ns(static_cast<double>(sender.behind));
  }
  reasons.push_back(std::move(reason));
}

void judge_stream(const spec::StreamResult& stream, const StreamReport& report,
                  const spec::TrialSpec& spec, Reasons& reasons) {
  const std::string where = spec::name_of(spec::kDirections, stream.direction);
  const auto without_number = report.receiver->connections.without_number;
  if (stream.connections && without_number > 0) {
    reasons.push_back(
        {ReasonCode::kTooManyAddresses,
         where,
         {{"frames", number(without_number)}, {"limit", number(AddressDictionary::kMax)}}});
  }
  const auto tolerance_ns = number(spec.lateness_tolerance_ns);
  if (stream.lateness.max_ns > tolerance_ns) {
    reasons.push_back({ReasonCode::kLeftLate,
                       where,
                       {{"late_ns", stream.lateness.max_ns}, {"limit_ns", tolerance_ns}}});
  }
  if (stream.overrun_frames > 0 && stream.losses) {
    reasons.push_back({ReasonCode::kRingFull, where, {{"frames", number(stream.overrun_frames)}}});
  }
  if (report.shared > 0) {
    reasons.push_back({ReasonCode::kTwoQueues, where, {{"frames", number(report.shared)}}});
  }
}

void judge_port(const spec::PortResult& port, Reasons& reasons) {
  const std::string where = spec::name_of(spec::kSides, port.side);
  const auto& counters = port.counters;
  const std::pair<ReasonCode, std::uint64_t> counted[] = {
      {ReasonCode::kRxMissed, counters.rx_missed},
      {ReasonCode::kRxNoBuffer, counters.rx_no_buffer},
      {ReasonCode::kRxErrors, counters.rx_errors},
      {ReasonCode::kTxErrors, counters.tx_errors},
      {ReasonCode::kRecordsLost, port.records_lost},
      {ReasonCode::kKernelRxDropped, counters.kernel_rx_dropped},
      {ReasonCode::kUnstamped, port.clock.unstamped},
      {ReasonCode::kImplausibleStamps, port.clock.implausible},
  };
  for (const auto& [code, frames] : counted) {
    if (frames > 0) reasons.push_back({code, where, {{"frames", number(frames)}}});
  }
  const auto limit_ns = static_cast<double>(spec::kClockErrorLimitNs);
  if (port.clock.error_ns > limit_ns) {
    reasons.push_back({ReasonCode::kClockError,
                       where,
                       {{"error_ns", port.clock.error_ns}, {"limit_ns", limit_ns}}});
  }
}

// Judges a port's link. A link that goes down loses frames that the gateway has never received.
void judge_link(const PortMeasure& port, spec::Side side, bool may_fall, Reasons& reasons) {
  const std::string where = spec::name_of(spec::kSides, side);
  if (!port.link_up) {
    reasons.push_back({ReasonCode::kLinkDown, where, {}});
  } else if (port.moved.link_downs > 0 && !may_fall) {
    reasons.push_back({ReasonCode::kLinkFell, where, {{"times", number(port.moved.link_downs)}}});
  }
}

}  // namespace

std::vector<Reason> invalid_reasons(const spec::TrialSpec& spec, const TrialMeasure& measure,
                                    const spec::TrialResult& result, TickRate ticks) {
  Reasons reasons;
  auto result_stream = result.streams.begin();
  for (const auto& phase : measure.phases) {
    for (const auto& stream : phase.streams) {
      if (!phase.ended_early) judge_sending(*result_stream, stream.sender, ticks, reasons);
      judge_stream(*result_stream, stream, spec, reasons);
      ++result_stream;
    }
  }
  for (const auto& port : result.ports) {
    judge_port(port, reasons);
    judge_link(measure.ports[static_cast<std::size_t>(port.side)], port.side, spec.link_may_fall,
               reasons);
  }
  return reasons;
}

namespace {

// Beside the delay of RFC 1242, each of these contains a part of the tester and of the links. The
// duration of the send call is no bound of it: on a NIC, the call returns before the frame is on
// the wire.
constexpr const char* kDelayDefinition =
    "from just before the send call to just after the receive call, at burst granularity "
    "(RFC 1242 3.8 store and forward, plus send call, transmit queue, DMA, serialisation on both "
    "links, and the way from the arriving port to the receive call)";
constexpr const char* kStampedDelayDefinition =
    "from just before the send call, at burst granularity, to the arriving port's own stamp "
    "(RFC 1242 3.8 store and forward, plus send call, transmit queue, DMA, serialisation on the "
    "link, and what the arriving port does before its stamp)";
constexpr const char* kHalfStampedDelayDefinition =
    "from just before the send call, at burst granularity, to the arriving port's own stamp, or "
    "just after the receive call of the port that has none "
    "(RFC 1242 3.8 store and forward, plus send call, transmit queue, DMA, serialisation on the "
    "links, and the way from the arriving port to its stamp or the receive call)";

spec::PortResult port_result(const TrialMeasure& measure, spec::Side side, TickRate ticks) {
  const auto index = static_cast<std::size_t>(side);
  spec::PortResult result{
      .side = side, .counters = measure.ports[index].moved, .clock = measure.ports[index].clock};
  IcmpTally icmp;
  for (const auto& phase : measure.phases) {
    const auto& receiver = *phase.ports[index];
    result.foreign += receiver.foreign;
    result.neighbour += receiver.neighbour;
    result.records_lost += receiver.records_lost;
    const auto& received = phase.received[index];
    result.queue_received.resize(received.size());
    for (std::size_t queue = 0; queue < received.size(); ++queue) {
      result.queue_received[queue] += received[queue];
    }
    icmp.merge(receiver.icmp);
    result.worst_poll_gap_ns = std::max(result.worst_poll_gap_ns,
                                        ticks.to_ns(static_cast<double>(receiver.poll_gap.max())));
  }
  result.icmp = icmp.result();
  return result;
}

unsigned own_clocks(const TrialMeasure& measure) {
  return static_cast<unsigned>(measure.ports[0].clock.own) +
         static_cast<unsigned>(measure.ports[1].clock.own);
}

const char* delay_definition(const TrialMeasure& measure) {
  constexpr std::array kByClocks{kDelayDefinition, kHalfStampedDelayDefinition,
                                 kStampedDelayDefinition};
  return kByClocks[own_clocks(measure)];
}

const char* delay_clock(const TrialMeasure& measure) {
  if (own_clocks(measure) != 1) return measure.ports[0].clock.own ? "port" : "tsc";
  return measure.ports[0].clock.own ? "port (left), tsc (right)" : "tsc (left), port (right)";
}

// Adds frames that arrived during a later phase to the late frames of the phase that sent them.
void add_stragglers(const TrialMeasure& measure, spec::TrialResult& result) {
  std::size_t at = 0;
  for (std::size_t phase = 0; phase < measure.phases.size(); ++phase) {
    for (const auto& stream : measure.phases[phase].streams) {
      auto& kinds = result.streams[at++].kinds;
      const auto to = static_cast<std::size_t>(stream.plan->to());
      for (std::size_t later = phase + 1; later < measure.phases.size(); ++later) {
        const auto& came = measure.phases[later].ports[to]->stragglers[phase];
        for (std::size_t kind = 0; kind < 2; ++kind) {
          if (kinds[kind]) kinds[kind]->late += came[kind];
        }
      }
    }
  }
}

// Returns runs of time, which are counted by this clock, in nanoseconds.
std::vector<spec::Interval> intervals(const spec::Runs& runs, TickRate clock) {
  std::vector<spec::Interval> list;
  for (const auto& run : runs.list()) {
    list.push_back({clock.to_whole_ns(run.first), clock.to_whole_ns(run.end)});
  }
  return list;
}

void append_workers(const PhaseReport& phase, const std::string& name, TickRate ticks,
                    spec::TrialResult& result) {
  for (const auto& [cpu, tasks, report] : phase.workers) {
    result.workers.push_back(
        {.phase = name,
         .cpu = cpu,
         .tasks = tasks,
         .voluntary_switches = report.usage.voluntary_switches,
         .involuntary_switches = report.usage.involuntary_switches,
         .worst_loop_gap_ns = ticks.to_ns(static_cast<double>(report.worst_loop_gap)),
         .away_at = intervals(report.away, ticks),
         .cpu_ns = report.usage.cpu_ns,
         .off_core_ns =
             std::max(0.0, ticks.to_ns(static_cast<double>(report.ran)) - report.usage.cpu_ns)});
  }
}

void append_watched(const PhaseReport& phase, const std::string& name, spec::TrialResult& result) {
  for (const auto& [cpu, absences, end_away_ns, placement, kept_awake_ns, taker] : phase.watched) {
    result.watched.push_back(
        {.phase = name,
         .cpu = cpu,
         .period_ns = watch::CpuWatch::kPeriodNs,
         .samples = absences.samples,
         .busy_samples = absences.busy,
         .absences = absences.count,
         .away_ns = static_cast<double>(absences.total_ns),
         .longest_away_ns = static_cast<double>(absences.longest_ns),
         .away_at = intervals(absences.list, TickRate(kNsPerSecond)),
         .end_away_ns = static_cast<double>(end_away_ns),
         .round_trip_ns = static_cast<double>(placement.round_trip_ns),
         .work_ns = static_cast<double>(placement.pace.work_ns),
         .chain_ns = static_cast<double>(placement.pace.chain_ns),
         .kept_awake_ns = static_cast<double>(kept_awake_ns),
         .taken_by = taker.who,
         .taken_ns = static_cast<double>(taker.looks * watch::CpuWatch::kPeriodNs)});
  }
}

void append_faults(const PhaseReport& phase, spec::TrialResult& result) {
  for (std::size_t side = 0; side < 2; ++side) {
    for (const auto& [defect, octets] : phase.ports[side]->examples) {
      result.faults.push_back({.side = static_cast<spec::Side>(side),
                               .reason = words(defect),
                               .frame_hex = hex(octets)});
    }
  }
}

}  // namespace

spec::TrialResult outcome(const spec::TrialSpec& spec, const TrialMeasure& measure,
                          TickRate ticks) {
  const auto trial_start = measure.phases.front().start;
  const auto ns = [ticks](Ticks value) { return ticks.to_ns(static_cast<double>(value)); };
  spec::TrialResult result{.seed = spec.seed,
                           .nonce = spec.nonce,
                           .incomplete = measure.incomplete,
                           .unwatched_reason = measure.unwatched_reason,
                           .connections = measure.connections,
                           .preparation_ns = ns(trial_start - measure.requested),
                           .duration_ns = ns(measure.phases.back().end - trial_start),
                           .delay_definition = delay_definition(measure),
                           .delay_clock = delay_clock(measure)};
  for (std::size_t i = 0; i < measure.phases.size(); ++i) {
    const auto& phase = measure.phases[i];
    result.ended_early |= phase.ended_early;
    for (const auto& stream : phase.streams) {
      result.streams.push_back(stream_result(stream, spec.phases[i],
                                             {.phase = phase.start, .trial = trial_start}, ticks));
      result.streams.back().start_raw_ns = phase.start_raw_ns;
    }
    append_workers(phase, spec.phases[i].name, ticks, result);
    append_watched(phase, spec.phases[i].name, result);
    append_faults(phase, result);
  }
  add_stragglers(measure, result);
  for (const auto side : {spec::Side::kLeft, spec::Side::kRight}) {
    result.ports.push_back(port_result(measure, side, ticks));
  }
  result.invalid_reasons = invalid_reasons(spec, measure, result, ticks);
  result.valid = result.invalid_reasons.empty();
  return result;
}

}  // namespace natxy::run
