#include "run/invalid_reasons.hpp"

#include "run/words.hpp"

namespace natxy::run {
namespace {

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

void judge_stream(const spec::StreamResult& stream, const StreamReport& report,
                  const spec::TrialSpec& spec, std::vector<std::string>& reasons) {
  const auto who = words(stream.direction) + ": ";
  const auto without_number = report.receiver->connections.without_number;
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
  if (report.shared > 0) {
    reasons.push_back(
        who + std::to_string(report.shared) +
        " frames arrived on two receive queues, so duplicates cannot be told (expected "
        "a port that distributes frames by addresses and ports; --rx-queues 1 needs "
        "none)");
  }
}

void judge_port(const spec::PortResult& port, std::vector<std::string>& reasons) {
  const auto who = words(port.side) + " port: ";
  const std::string advice = R"(; tester.arrival_clock = "tsc" does not use this clock)";
  const auto dropped = [&](std::uint64_t count, const std::string& what) {
    if (count > 0) reasons.push_back(who + std::to_string(count) + " frames " + what);
  };
  dropped(port.counters.rx_missed, "missed for lack of descriptors (rx_missed)");
  dropped(port.counters.rx_no_buffer, "missed for lack of buffers (rx_no_buffer)");
  dropped(port.counters.rx_errors, "received with an error (rx_errors)");
  dropped(port.counters.tx_errors, "not sent because of an error (tx_errors)");
  dropped(port.records_lost, "without a record, because its buffer had no room (records_lost)");
  dropped(port.counters.kernel_rx_dropped, "dropped by the network interface (kernel_rx_dropped)");
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

std::vector<std::string> invalid_reasons(const spec::TrialSpec& spec, const TrialMeasure& measure,
                                         const spec::TrialResult& result, TickRate ticks) {
  std::vector<std::string> reasons;
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
