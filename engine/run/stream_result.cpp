#include <algorithm>
#include <utility>

#include "run/outcome.hpp"

namespace natxy::run {
namespace {

spec::Distribution distribution(const Buckets& recorded, TickRate ticks) {
  const auto ns = [ticks](double value) { return ticks.to_ns(value); };
  spec::Distribution summary{.count = recorded.count(),
                             .min_ns = ns(recorded.min),
                             .max_ns = ns(recorded.max),
                             .mean_ns = ns(recorded.mean),
                             .p50_ns = ns(recorded.percentile(0.5)),
                             .p90_ns = ns(recorded.percentile(0.9)),
                             .p99_ns = ns(recorded.percentile(0.99)),
                             .p999_ns = ns(recorded.percentile(0.999)),
                             .buckets = {}};
  for (const auto& [lower, upper, count] : recorded.list) {
    summary.buckets.push_back({.lower_ns = ns(lower), .upper_ns = ns(upper), .count = count});
  }
  return summary;
}

spec::Misdelivered misdelivered(const KindTally& tally) {
  const auto count = [&](frame::Defect defect) {
    return tally.defects[static_cast<std::size_t>(defect)];
  };
  using enum frame::Defect;
  return {.malformed = count(kMalformed),
          .checksum = count(kChecksum),
          .number = count(kNumber),
          .length = count(kLength),
          .tunnel = count(kTunnel),
          .address = count(kAddress),
          .port = count(kPort),
          .sequence = count(kSequence),
          .hop_limit = count(kHopLimit),
          .traffic_class = count(kTrafficClass),
          .header = count(kHeader)};
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
  spec::KindCounters counters{
      .misdelivered = misdelivered(tally),
      .hop_limit = tally.received > 0 ? tally.hop_limits.inner : std::uint8_t{0},
      .delay = distribution(tally.delay.buckets(), ticks),
      .ipdv = variation(tally, sent, ticks)};
  spec::add<spec::FrameCounters>(counters, tally);
  counters.sent = sent;
  counters.lost = sent - tally.received;
  return counters;
}

// How long the call that sent a tagged frame usually took. So long, it is a part of each delay
// (docs/decisions/0006); what it took beyond, something else in the tester's way took.
Ticks usual_call(std::vector<TagDeparture> left) {
  constexpr std::size_t kFewest = 10;  // of fewer, a disturbed one may be the median
  if (left.size() < kFewest) return 0;
  const auto middle = left.begin() + static_cast<std::ptrdiff_t>((left.size() - 1) / 2);
  std::ranges::nth_element(left, middle, {}, &TagDeparture::leaving);
  return middle->leaving;
}

// Every tagged frame that was sent, by its number.
spec::TagCounters tags(const StreamReport& stream, TickRate ticks) {
  auto arrived = stream.receiver->tags;
  auto left = stream.sender.tags;
  std::ranges::sort(arrived, {}, &TagArrival::number);
  std::ranges::sort(left, {}, &TagDeparture::number);
  const auto usual = usual_call(left);
  spec::TagCounters counters{.sent =
                                 stream.tags->among(stream.sender.sent[0] + stream.sender.sent[1])};
  counters.arrived.reserve(arrived.size());
  auto came = arrived.begin();
  auto went = left.begin();
  for (std::uint64_t tag = 0; tag < counters.sent; ++tag) {
    const auto number = stream.tags->number(tag);
    while (came != arrived.end() && came->number < number) ++came;  // it came at two queues
    if (came == arrived.end() || came->number != number) {
      counters.lost_numbers.push_back(number);
      continue;
    }
    while (went != left.end() && went->number < number) ++went;
    const auto known = went != left.end() && went->number == number;
    const auto gap = came->poll_gap + (known ? std::max(went->leaving, usual) - usual : 0);
    counters.arrived.push_back({number, ticks.to_whole_ns(came->delay), ticks.to_whole_ns(gap)});
    ++came;
  }
  counters.received = counters.arrived.size();
  counters.lost = counters.lost_numbers.size();
  return counters;
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
                      .gaps = runs.gaps,
                      .longest_run = runs.longest,
                      .longest_run_from_ns = due_ns(runs.longest_first),
                      .longest_run_until_ns = due_ns(runs.longest_first + runs.longest)};
}

std::optional<spec::ConnectionCounters> connections(const StreamReport& stream) {
  if (!stream.plan->shape().connected) return std::nullopt;
  const auto& tally = stream.receiver->connections;
  const auto share = tally.ending_came == 0 ? 0
                                            : static_cast<double>(tally.ending_new) /
                                                  static_cast<double>(tally.ending_came);
  return spec::ConnectionCounters{.stored = tally.stored,
                                  .known = tally.known,
                                  .changed = tally.changed,
                                  .wrong = tally.wrong,
                                  .collided = tally.collided,
                                  .ending_new_percent = share * 100};
}

std::vector<spec::LostRun> lost_runs(const StreamReport& stream) {
  std::vector<spec::LostRun> runs;
  for (const auto& run : stream.losses.runs.list()) {
    runs.push_back({run.first, run.end - run.first, run.count});
  }
  return runs;
}

std::vector<spec::Interval> late_runs(const StreamReport& stream) {
  std::vector<spec::Interval> runs;
  for (const auto& run : stream.sender.late_runs.list()) {
    runs.push_back({run.first, run.end - stream.senders});
  }
  return runs;
}

std::vector<spec::Pause> pauses(const StreamReport& stream, TickRate ticks) {
  std::vector<spec::Pause> list;
  for (const auto why : {spec::PauseReason::kCore, spec::PauseReason::kPort}) {
    for (const auto& run : stream.sender.pauses_at[static_cast<std::size_t>(why)].list()) {
      list.push_back({.before_number = run.first, .ns = ticks.to_whole_ns(run.count), .why = why});
    }
  }
  std::ranges::sort(
      list, {}, [](const spec::Pause& pause) { return std::pair(pause.before_number, pause.why); });
  return list;
}

// The kinds share the list: frames of either show what the gateway could do.
std::vector<spec::LowDelay> low_delays(const StreamReport& stream, TickRate ticks) {
  auto shortest = stream.receiver->kinds[0].shortest;
  shortest.merge(stream.receiver->kinds[1].shortest);
  std::vector<spec::LowDelay> list;
  for (const auto& [first, lowest] : shortest.list()) {
    list.push_back({first, ticks.to_whole_ns(lowest)});
  }
  return list;
}

struct HeldBack {
  double by_growth = 0;  // see spec::StreamResult::held_back_ns
  double excess = 0;     // see spec::StreamResult::last_delay_excess_ns
};

// Returns by how much, in ticks, the last frame's delay exceeds the shortest delay, with and
// without the limit to the growth of the shortest delay. Without this limit, the ordinary variation
// of delays counts too. The kind that was held back longer counts: the gateway may queue foreground
// traffic only.
HeldBack held_back(const StreamReport& report) {
  HeldBack held;
  const auto last = report.receiver->last_arrival;
  if (last == kNever || last < report.sender.last_departure) return held;
  const auto delay = static_cast<double>(last - report.sender.last_departure);
  for (const auto& kind : report.receiver->kinds) {
    if (kind.delay.recorded() == 0) continue;
    const auto excess = delay - static_cast<double>(kind.delay.min());
    held.excess = std::max(held.excess, excess);
    held.by_growth = std::max(held.by_growth, std::min(excess, kind.shortest.growth()));
  }
  return held;
}

}  // namespace

spec::StreamResult stream_result(const StreamReport& report, const spec::Phase& phase,
                                 const Starts& starts, TickRate ticks) {
  const auto& sender = report.sender;
  const auto sent_any = sender.first_departure != kNever;
  const auto held = held_back(report);
  const auto ns = [ticks](Ticks value) { return ticks.to_ns(static_cast<double>(value)); };
  spec::StreamResult result{
      .phase = phase.name,
      .direction = report.plan->direction,
      .due = report.plan->schedule.frames(),
      .senders = report.senders,
      .pauses = {.count = sender.pauses,
                 .total_ns = ns(sender.paused),
                 .longest_ns = ns(sender.longest_pause),
                 .at = pauses(report, ticks)},
      .late_runs = late_runs(report),
      .sending_ns = sent_any ? ns(sender.last_departure - sender.first_departure) : 0,
      .first_departure_ns = sent_any ? ns(sender.first_departure - starts.trial) : 0,
      .lateness = distribution(sender.lateness.buckets(), ticks),
      .send_call = distribution(sender.send_call.buckets(), ticks),
      .poll_gap = distribution(report.receiver->poll_gap.buckets(), ticks),
      .step_gap = distribution(sender.step_gap.buckets(), ticks),
      .held_back_ns = ticks.to_ns(held.by_growth),
      .last_delay_excess_ns = ticks.to_ns(held.excess),
      .kinds = {},
      .losses = losses(report, ticks),
      .lost_runs = lost_runs(report),
      .low_delays = low_delays(report, ticks)};
  spec::add<spec::SenderCounters>(result, sender);
  spec::add<spec::ReceiverCounters>(result, *report.receiver);
  const auto& silence = report.receiver->silence;
  if (silence.until > silence.from) {
    result.silence = {.from_ns = ns(silence.from - starts.phase),
                      .until_ns = ns(silence.until - starts.phase)};
  }
  result.connections = connections(report);
  if (report.tags) result.tags = tags(report, ticks);
  for (std::size_t kind = 0; kind < 2; ++kind) {
    if (report.plan->mix.count(static_cast<spec::Kind>(kind), 1ULL << 39U) > 0) {
      result.kinds[kind] = counters(report, kind, ticks);
    }
  }
  return result;
}

}  // namespace natxy::run
