#include "run/invalid_reasons.hpp"

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
  auto told = result.streams.begin();
  for (const auto& phase : measure.phases) {
    for (const auto& stream : phase.streams) {
      if (!phase.ended_early) judge_sending(*told, stream.sender, ticks, reasons);
      judge_stream(*told, stream, spec, reasons);
      ++told;
    }
  }
  for (const auto& port : result.ports) {
    judge_port(port, reasons);
    judge_link(measure.ports[static_cast<std::size_t>(port.side)], port.side, spec.link_may_fall,
               reasons);
  }
  return reasons;
}

}  // namespace natxy::run
