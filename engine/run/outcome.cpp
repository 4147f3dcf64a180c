#include "run/outcome.hpp"

#include "run/words.hpp"

namespace natxy::run {
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

spec::Distribution distribution(const Buckets& of, TickRate ticks) {
  const auto ns = [ticks](double value) { return ticks.to_ns(value); };
  spec::Distribution told{.count = of.count(),
                          .min_ns = ns(of.min),
                          .max_ns = ns(of.max),
                          .mean_ns = ns(of.mean),
                          .p50_ns = ns(of.percentile(0.5)),
                          .p90_ns = ns(of.percentile(0.9)),
                          .p99_ns = ns(of.percentile(0.99)),
                          .p999_ns = ns(of.percentile(0.999)),
                          .buckets = {}};
  for (const auto& [lower, upper, count] : of.list) {
    told.buckets.push_back({.lower_ns = ns(lower), .upper_ns = ns(upper), .count = count});
  }
  return told;
}

spec::Misdelivered misdelivered(const KindTally& tally) {
  const auto of = [&](frame::Defect defect) {
    return tally.defects[static_cast<std::size_t>(defect)];
  };
  using enum frame::Defect;
  return {.malformed = of(kMalformed),
          .checksum = of(kChecksum),
          .number = of(kNumber),
          .length = of(kLength),
          .address = of(kAddress),
          .port = of(kPort),
          .hop_limit = of(kHopLimit),
          .traffic_class = of(kTrafficClass)};
}

std::optional<spec::DelayVariation> variation(const KindTally& tally, std::uint64_t sent,
                                              TickRate ticks) {
  if (!tally.variation) return std::nullopt;
  const auto pairs = sent == 0 ? 0 : sent - 1;
  return spec::DelayVariation{.undefined = pairs - tally.variation->recorded(),
                              .distribution = distribution(tally.variation->buckets(), ticks)};
}

spec::KindCounters counters(const StreamReport& stream, std::size_t kind, TickRate ticks) {
  const auto& tally = stream.receiver->kinds[kind];
  const auto sent = stream.sender.sent[kind];
  return {.sent = sent,
          .received = tally.received,
          .lost = sent - tally.received,
          .duplicated = tally.duplicated,
          .reordered = tally.reordered,
          .without_udp_checksum = tally.without_udp_checksum,
          .late = tally.late,
          .misdelivered = misdelivered(tally),
          .hop_limit = tally.received > 0 ? tally.hop_limit : std::uint8_t{0},
          .negative_delays = tally.negative_delays,
          .delay = distribution(tally.delay.buckets(), ticks),
          .ipdv = variation(tally, sent, ticks)};
}

spec::TagCounters tags(const StreamReport& stream, TickRate ticks) {
  const auto& delays = *stream.receiver->tags;
  return {.sent = stream.tags,
          .received = delays.recorded(),
          .lost = stream.tags - delays.recorded(),
          .delay = distribution(delays.buckets(), ticks),
          .poll_gap = distribution(stream.receiver->tag_poll_gap.buckets(), ticks),
          .step_gap = distribution(stream.sender.tag_step_gap.buckets(), ticks)};
}

std::optional<spec::Losses> losses(const StreamReport& stream, TickRate ticks) {
  const auto& runs = stream.losses;
  if (runs.count == 0) return std::nullopt;
  const auto& schedule = stream.plan->schedule;
  const auto due_ns = [&](std::uint64_t number) {
    const auto due = number < schedule.frames() ? schedule.due(number) : schedule.end();
    return ticks.to_ns(static_cast<double>(due));
  };
  return spec::Losses{.frames = runs.count,
                      .first_number = runs.first,
                      .last_number = runs.last,
                      .first_due_ns = due_ns(runs.first),
                      .last_due_ns = due_ns(runs.last),
                      .longest_run = runs.longest,
                      .longest_run_from_ns = due_ns(runs.longest_first),
                      .longest_run_until_ns = due_ns(runs.longest_first + runs.longest)};
}

std::optional<spec::ConnectionCounters> connections(const StreamReport& stream) {
  if (!stream.plan->kinds[0].connections) return std::nullopt;
  const auto& of = stream.receiver->connections;
  const auto share = of.ending_came == 0
                         ? 0
                         : static_cast<double>(of.ending_new) / static_cast<double>(of.ending_came);
  return spec::ConnectionCounters{.stored = of.stored,
                                  .known = of.known,
                                  .changed = of.changed,
                                  .wrong = of.wrong,
                                  .collided = of.collided,
                                  .ending_new_percent = share * 100};
}

// Returns how long the gateway held the frames back: by how much the last frame's delay exceeds the
// shortest delay, limited to the growth of the shortest delay. Without this limit, the ordinary
// variation of delays would count too. See spec::StreamResult::held_back_ns.
double held_back_ns(const StreamReport& report, TickRate ticks) {
  const auto last = report.receiver->last_arrival;
  if (last == kNever || last < report.sender.last_departure) return 0;
  double shortest = -1;
  for (const auto& kind : report.receiver->kinds) {
    if (kind.delay.recorded() == 0) continue;
    const auto least = static_cast<double>(kind.delay.min());
    shortest = shortest < 0 ? least : std::min(shortest, least);
  }
  const auto delay = static_cast<double>(last - report.sender.last_departure);
  return ticks.to_ns(std::max(0.0, std::min(delay - shortest, report.receiver->shortest.growth())));
}

spec::StreamResult stream_result(const StreamReport& report, const spec::Phase& phase,
                                 Ticks phase_start, Ticks trial_start, TickRate ticks) {
  const auto& sender = report.sender;
  const auto sent_any = sender.first_departure != kNever;
  const auto ns = [ticks](Ticks value) { return ticks.to_ns(static_cast<double>(value)); };
  spec::StreamResult result{
      .phase = phase.name,
      .direction = report.plan->direction,
      .due = report.plan->schedule.frames(),
      .refused_by_gateway = sender.refused_by_gateway,
      .refused_by_port = sender.refused_by_port,
      .largest_burst = sender.largest_burst,
      .pauses = {.count = sender.pauses,
                 .total_ns = ns(sender.paused),
                 .longest_ns = ns(sender.longest_pause)},
      .sending_ns = sent_any ? ns(sender.last_departure - sender.first_departure) : 0,
      .first_departure_ns = sent_any ? ns(sender.first_departure - trial_start) : 0,
      .lateness = distribution(sender.lateness.buckets(), ticks),
      .send_call = distribution(sender.send_call.buckets(), ticks),
      .poll_gap = distribution(report.receiver->poll_gap.buckets(), ticks),
      .step_gap = distribution(sender.step_gap.buckets(), ticks),
      .held_back_ns = held_back_ns(report, ticks),
      .overrun_frames = report.receiver->overrun,
      .uncertain_late = report.receiver->uncertain_late,
      .kinds = {},
      .losses = losses(report, ticks)};
  const auto& silence = report.receiver->silence;
  if (silence.until > silence.from) {
    result.silence = {.from_ns = ns(silence.from - phase_start),
                      .until_ns = ns(silence.until - phase_start)};
  }
  result.connections = connections(report);
  if (report.receiver->tags) result.tags = tags(report, ticks);
  for (std::size_t kind = 0; kind < 2; ++kind) {
    if (report.plan->mix.count(static_cast<spec::Kind>(kind), 1ULL << 39U) > 0) {
      result.kinds[kind] = counters(report, kind, ticks);
    }
  }
  return result;
}

spec::PortResult port_result(const TrialMeasure& measure, spec::Side side, TickRate ticks) {
  const auto index = static_cast<std::size_t>(side);
  const auto& moved = measure.ports[index].moved;
  spec::PortResult result{.side = side,
                          .rx_missed = moved.rx_missed,
                          .rx_errors = moved.rx_errors,
                          .rx_no_buffer = moved.rx_no_buffer,
                          .tx_errors = moved.tx_errors,
                          .kernel_rx_dropped = moved.kernel_rx_dropped,
                          .link_downs = moved.link_downs};
  result.clock = measure.ports[index].clock;
  IcmpTally icmp;
  for (const auto& phase : measure.phases) {
    const auto& receiver = *phase.ports[index];
    result.foreign += receiver.foreign;
    result.neighbour += receiver.neighbour;
    result.records_lost += receiver.records_lost;
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

void append_workers(const PhaseReport& phase, TickRate ticks, spec::TrialResult& result) {
  for (const auto& [cpu, tasks, report] : phase.workers) {
    result.workers.push_back(
        {.cpu = cpu,
         .tasks = tasks,
         .voluntary_switches = report.usage.voluntary_switches,
         .involuntary_switches = report.usage.involuntary_switches,
         .worst_loop_gap_ns = ticks.to_ns(static_cast<double>(report.worst_loop_gap)),
         .cpu_ns = report.usage.cpu_ns,
         .off_core_ns =
             std::max(0.0, ticks.to_ns(static_cast<double>(report.ran)) - report.usage.cpu_ns)});
  }
}

void append_watched(const PhaseReport& phase, const std::string& name, spec::TrialResult& result) {
  for (const auto& [cpu, absences] : phase.watched) {
    result.watched.push_back({.phase = name,
                              .cpu = cpu,
                              .period_ns = watch::CpuWatch::kPeriodNs,
                              .samples = absences.samples,
                              .absences = absences.count,
                              .away_ns = static_cast<double>(absences.total_ns),
                              .longest_away_ns = static_cast<double>(absences.longest_ns)});
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

std::uint64_t sent_of(const spec::StreamResult& stream) {
  std::uint64_t sent = 0;
  for (const auto& kind : stream.kinds) sent += kind ? kind->sent : 0;
  return sent;
}

void judge_sending(const spec::StreamResult& stream, const SenderReport& sender, TickRate ticks,
                   std::vector<std::string>& reasons) {
  if (sent_of(stream) == stream.due) return;
  const auto who = words(stream.direction) + ": ";
  const auto part = std::to_string(sent_of(stream)) + " of " + std::to_string(stream.due);
  if (sender.gave_up != GaveUp::kBehind) {
    return reasons.push_back(who + "the port took only " + part + " frames");
  }
  const auto behind_ns = ticks.to_ns(static_cast<double>(sender.behind));
  const auto why = stream.pauses.count > 0
                       ? "it had paused for " + milliseconds(stream.pauses.total_ns)
                       : "the next frame would have left too late, by " + milliseconds(behind_ns);
  reasons.push_back(who + "the sender gave up after " + part + " frames: " + why);
}

void judge_stream(const spec::StreamResult& stream, std::uint64_t without_number,
                  const spec::TrialSpec& spec, std::vector<std::string>& reasons) {
  const auto who = words(stream.direction) + ": ";
  if (stream.connections && without_number > 0) {
    reasons.push_back(who + std::to_string(without_number) +
                      " frames came from further external IPv6 addresses (expected at most " +
                      std::to_string(AddressDictionary::kMax) + ")");
  }
  if (stream.lateness.max_ns > static_cast<double>(spec.lateness_tolerance_ns)) {
    reasons.push_back(who + "a frame left " + milliseconds(stream.lateness.max_ns) +
                      " after it was due (expected at most " +
                      milliseconds(static_cast<double>(spec.lateness_tolerance_ns)) + ")");
  }
  if (stream.overrun_frames > 0 && stream.losses) {
    reasons.push_back(who + "up to " + std::to_string(stream.overrun_frames) +
                      " frames waited for the tester at once, more than its ring holds, and some "
                      "are missing");
  }
}

void judge_port(const spec::PortResult& port, std::vector<std::string>& reasons) {
  const auto who = words(port.side) + " port: ";
  const std::string advice = R"(; tester.arrival_clock = "tsc" does not use this clock)";
  const auto dropped = [&](std::uint64_t count, const std::string& what) {
    if (count > 0) reasons.push_back(who + std::to_string(count) + " frames " + what);
  };
  dropped(port.rx_missed, "missed for lack of descriptors (rx_missed)");
  dropped(port.rx_no_buffer, "missed for lack of buffers (rx_no_buffer)");
  dropped(port.rx_errors, "received with an error (rx_errors)");
  dropped(port.tx_errors, "not sent because of an error (tx_errors)");
  dropped(port.records_lost, "without a record, because its buffer had no room (records_lost)");
  dropped(port.kernel_rx_dropped, "dropped by the network interface (kernel_rx_dropped)");
  dropped(port.clock.unstamped, "without a time stamp of the port's clock" + advice);
  dropped(port.clock.implausible, "with an impossible time stamp of the port's clock" + advice);
  if (port.clock.error_ns > static_cast<double>(spec::kClockErrorLimitNs)) {
    reasons.push_back(who + "the error of its clock was " + milliseconds(port.clock.error_ns) +
                      " (expected at most " + milliseconds(spec::kClockErrorLimitNs) + ")" +
                      advice);
  }
}

// Judges a port's link. A link that goes down loses frames that the gateway has never received.
void judge_link(const PortMeasure& port, spec::Side side, bool may_fall,
                std::vector<std::string>& reasons) {
  const auto who = words(side) + " port: its link ";
  if (!port.link_up) {
    reasons.push_back(who + "was down at the end");
  } else if (port.moved.link_downs > 0 && !may_fall) {
    const auto times = port.moved.link_downs == 1
                           ? std::string("once")
                           : std::to_string(port.moved.link_downs) + " times";
    reasons.push_back(who + "went down and came back " + times + " within the trial (link_downs)");
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
      result.streams.push_back(
          stream_result(stream, spec.phases[i], phase.start, trial_start, ticks));
      const auto& told = result.streams.back();
      if (!phase.ended_early) {
        judge_sending(told, stream.sender, ticks, result.invalid_reasons);
      }
      judge_stream(told, stream.receiver->connections.without_number, spec, result.invalid_reasons);
    }
    append_workers(phase, ticks, result);
    append_watched(phase, spec.phases[i].name, result);
    append_faults(phase, result);
  }
  add_stragglers(measure, result);
  for (const auto side : {spec::Side::kLeft, spec::Side::kRight}) {
    result.ports.push_back(port_result(measure, side, ticks));
    judge_port(result.ports.back(), result.invalid_reasons);
    judge_link(measure.ports[static_cast<std::size_t>(side)], side, spec.link_may_fall,
               result.invalid_reasons);
  }
  result.valid = result.invalid_reasons.empty();
  return result;
}

}  // namespace natxy::run
