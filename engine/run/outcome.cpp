#include "run/outcome.hpp"

#include "run/words.hpp"

namespace natxy::run {
namespace {

constexpr const char* kDelayDefinition =
    "from just before the send call to just after the receive call, at burst granularity "
    "(RFC 1242 3.8 store and forward, plus the send call at most: see send_call)";

template <unsigned kPrecision>
spec::Distribution distribution(const Histogram<kPrecision>& histogram, TickRate ticks) {
  const auto ns = [ticks](auto value) { return ticks.to_ns(static_cast<double>(value)); };
  spec::Distribution told{.count = histogram.count(),
                          .min_ns = ns(histogram.min()),
                          .max_ns = ns(histogram.max()),
                          .mean_ns = ns(histogram.mean()),
                          .p50_ns = ns(histogram.percentile(0.5)),
                          .p90_ns = ns(histogram.percentile(0.9)),
                          .p99_ns = ns(histogram.percentile(0.99)),
                          .p999_ns = ns(histogram.percentile(0.999)),
                          .buckets = {}};
  histogram.for_each(
      [&](Ticks lower, std::uint64_t count) { told.buckets.emplace_back(ns(lower), count); });
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
          .hop_limit = of(kHopLimit)};
}

spec::KindCounters counters(const StreamReport& stream, std::size_t kind, TickRate ticks) {
  const auto& tally = stream.receiver.kinds[kind];
  const auto sent = stream.sender.sent[kind];
  return {.sent = sent,
          .received = tally.received,
          .lost = sent - tally.received,
          .duplicated = tally.duplicated,
          .reordered = tally.reordered,
          .late = tally.late,
          .misdelivered = misdelivered(tally),
          .hop_limit = tally.received > 0 ? tally.hop_limit : std::uint8_t{0},
          .negative_delays = tally.negative_delays,
          .delay = distribution(tally.delay, ticks)};
}

spec::StreamResult stream_result(const StreamReport& report, const spec::Phase& phase,
                                 Ticks trial_start, TickRate ticks) {
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
      .sending_ns = sent_any ? ns(sender.last_departure - sender.first_departure) : 0,
      .first_departure_ns = sent_any ? ns(sender.first_departure - trial_start) : 0,
      .lateness = distribution(sender.lateness, ticks),
      .send_call = distribution(sender.send_call, ticks),
      .kinds = {}};
  for (std::size_t kind = 0; kind < 2; ++kind) {
    if (report.plan->mix.count(static_cast<spec::Kind>(kind), 1ULL << 39U) > 0) {
      result.kinds[kind] = counters(report, kind, ticks);
    }
  }
  return result;
}

// How long a port may go unpolled: what its ring holds at the highest rate that arrives there.
double tolerable_gap_ns(const TrialMeasure& measure, spec::Side side) {
  std::uint64_t rate_fps = 0;
  for (const auto& phase : measure.phases) {
    for (const auto& stream : phase.streams) {
      if (stream.plan->to() == side)
        rate_fps = std::max(rate_fps, stream.plan->schedule.max_rate_fps());
    }
  }
  const auto frames = measure.ports[static_cast<std::size_t>(side)].rx_ring_frames;
  return rate_fps == 0 ? 0 : static_cast<double>(frames) * 1e9 / static_cast<double>(rate_fps);
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
                          .tolerable_poll_gap_ns = tolerable_gap_ns(measure, side)};
  for (const auto& phase : measure.phases) {
    const auto& receiver = phase.ports[index];
    result.foreign += receiver.foreign;
    result.neighbour += receiver.neighbour;
    result.worst_poll_gap_ns = std::max(result.worst_poll_gap_ns,
                                        ticks.to_ns(static_cast<double>(receiver.worst_poll_gap)));
  }
  return result;
}

void append_workers(const PhaseReport& phase, TickRate ticks, spec::TrialResult& result) {
  for (const auto& [cpu, tasks, report] : phase.workers) {
    result.workers.push_back(
        {.cpu = cpu,
         .tasks = tasks,
         .voluntary_switches = report.usage.voluntary_switches,
         .involuntary_switches = report.usage.involuntary_switches,
         .worst_loop_gap_ns = ticks.to_ns(static_cast<double>(report.worst_loop_gap)),
         .cpu_ns = report.usage.cpu_ns});
  }
}

std::string hex(const std::vector<std::uint8_t>& octets) {
  static constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const auto octet : octets) {
    text += kDigits[octet >> 4U];
    text += kDigits[octet & 0xfU];
  }
  return text;
}

void append_faults(const PhaseReport& phase, spec::TrialResult& result) {
  for (std::size_t side = 0; side < 2; ++side) {
    for (const auto& [defect, octets] : phase.ports[side].examples) {
      result.faults.push_back({.side = static_cast<spec::Side>(side),
                               .reason = words(defect),
                               .frame_hex = hex(octets)});
    }
  }
}

void judge_sending(const spec::StreamResult& stream, std::uint64_t tolerance_ns,
                   std::vector<std::string>& reasons) {
  const auto who = words(stream.direction) + ": ";
  std::uint64_t sent = 0;
  for (const auto& kind : stream.kinds) sent += kind ? kind->sent : 0;
  if (sent < stream.due) {
    reasons.push_back(who + "the port took only " + std::to_string(sent) + " of " +
                      std::to_string(stream.due) + " frames");
  }
  if (stream.lateness.max_ns > static_cast<double>(tolerance_ns)) {
    reasons.push_back(who + "a frame left " + milliseconds(stream.lateness.max_ns) +
                      " after it was due; " + milliseconds(tolerance_ns) + " is tolerated");
  }
}

void judge_port(const spec::PortResult& port, std::vector<std::string>& reasons) {
  const auto who = words(port.side) + " port: ";
  const auto dropped = [&](std::uint64_t count, const char* what) {
    if (count > 0) reasons.push_back(who + std::to_string(count) + " frames " + what);
  };
  dropped(port.rx_missed, "missed for want of descriptors (rx_missed)");
  dropped(port.rx_no_buffer, "missed for want of buffers (rx_no_buffer)");
  dropped(port.rx_errors, "received with an error (rx_errors)");
  dropped(port.tx_errors, "not sent because of an error (tx_errors)");
  dropped(port.kernel_rx_dropped, "dropped by the network interface (kernel_rx_dropped)");
  if (port.tolerable_poll_gap_ns > 0 && port.worst_poll_gap_ns > port.tolerable_poll_gap_ns) {
    reasons.push_back(who + "not polled for " + milliseconds(port.worst_poll_gap_ns) +
                      "; its ring holds " + milliseconds(port.tolerable_poll_gap_ns) +
                      " of frames");
  }
}

}  // namespace

spec::TrialResult outcome(const spec::TrialSpec& spec, const TrialMeasure& measure,
                          TickRate ticks) {
  const auto trial_start = measure.phases.front().start;
  const auto ns = [ticks](Ticks value) { return ticks.to_ns(static_cast<double>(value)); };
  spec::TrialResult result{.seed = spec.seed,
                           .nonce = spec.nonce,
                           .preparation_ns = ns(trial_start - measure.requested),
                           .duration_ns = ns(measure.phases.back().end - trial_start),
                           .delay_definition = kDelayDefinition};
  for (std::size_t i = 0; i < measure.phases.size(); ++i) {
    const auto& phase = measure.phases[i];
    for (const auto& stream : phase.streams) {
      result.streams.push_back(stream_result(stream, spec.phases[i], trial_start, ticks));
      judge_sending(result.streams.back(), spec.lateness_tolerance_ns, result.invalid_reasons);
    }
    append_workers(phase, ticks, result);
    append_faults(phase, result);
  }
  for (const auto side : {spec::Side::kLeft, spec::Side::kRight}) {
    result.ports.push_back(port_result(measure, side, ticks));
    judge_port(result.ports.back(), result.invalid_reasons);
  }
  result.valid = result.invalid_reasons.empty();
  return result;
}

}  // namespace natxy::run
