#include "gateway/faults/chain.hpp"

#include <utility>

namespace natxy::gateway {
namespace {

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

std::variant<TokenBucket, Recurrence> cause_of(const Sulk& sulk) {
  if (const auto* rate = std::get_if<RateLimit>(&sulk.cause)) {
    return TokenBucket(rate->rate_fps, rate->depth);
  }
  return Recurrence(std::get<Recurring>(sulk.cause));
}

}  // namespace

FaultChain::FaultChain(const std::vector<Fault>& faults, Direction direction,
                       Surroundings surroundings)
    : surroundings_(surroundings) {
  for (const auto& fault : faults) {
    if (fault.applies_to(direction)) stages_.push_back(make_stage(fault.kind));
  }
}

FaultChain::Stage FaultChain::make_stage(const FaultKind& kind) {
  return std::visit(
      Overloaded{
          [](const RateLimit& o) { return Stage(TokenBucket(o.rate_fps, o.depth)); },
          [](const Loss& o) {
            if (o.every != 0) return Stage(LossState{Cycle(o.every)});
            return Stage(ChanceLossState{.share_ppm = o.share_ppm, .random = Pseudorandom(o.seed)});
          },
          [](const Duplicate& o) { return Stage(DuplicateState{Cycle(o.every)}); },
          [](const Reorder& o) {
            return Stage(ReorderState{.order = o, .due = Cycle(o.every), .held = nullptr});
          },
          [](const Corrupt& o) { return Stage(CorruptState{.order = o, .due = Cycle(o.every)}); },
          [](const Delay& o) { return Stage(DelaySeries(o)); },
          [](const Buffer& o) {
            return Stage(
                BufferState{DrainQueue(o.frames, o.drain_fps, o.depth), FaultTime(o.departures)});
          },
          [](const Sulk& o) {
            return Stage(SulkState{.cause = cause_of(o),
                                   .for_ns = o.for_ns,
                                   .time = FaultTime(o.departures),
                                   .overloaded_ns = std::nullopt});
          }},
      kind);
}

void FaultChain::pass(FramePtr frame, std::size_t stage, Nanoseconds now_ns) {
  for (; stage < stages_.size(); ++stage) {
    frame = std::visit(
        [&](auto& state) {
          return apply(state, std::move(frame), {.stage = stage, .now_ns = now_ns});
        },
        stages_[stage]);
    if (!frame) return;
  }
  surroundings_.out.push_back(std::move(frame));
}

void FaultChain::go_on(std::pair<Nanoseconds, Waiting> due) {
  auto& [now_ns, waiting] = due;
  if (waiting.frame) return pass(std::move(waiting.frame), waiting.stage, now_ns);
  auto& state = std::get<ReorderState>(stages_[waiting.stage]);
  if (!state.held || state.generation != waiting.generation) return;
  if (state.to_pass != state.order.by) ++surroundings_.record.reordered;
  pass(std::move(state.held), waiting.stage + 1, now_ns);
}

void FaultChain::wait_until(Nanoseconds due_ns, FramePtr frame, Context context) {
  waiting_.put(due_ns, {.frame = std::move(frame), .stage = context.stage + 1, .generation = 0});
}

FramePtr FaultChain::drop(Drop reason) {
  surroundings_.record.count(reason);
  return nullptr;
}

FramePtr FaultChain::apply(TokenBucket& bucket, FramePtr frame, Context context) {
  return bucket.take(context.now_ns) ? std::move(frame) : drop(Drop::kRateLimit);
}

FramePtr FaultChain::apply(LossState& state, FramePtr frame, Context /*context*/) {
  return state.due.is_due() ? drop(Drop::kLoss) : std::move(frame);
}

FramePtr FaultChain::apply(ChanceLossState& state, FramePtr frame, Context /*context*/) {
  const auto drawn = state.random.uniform(0, 999'999);
  return drawn < state.share_ppm ? drop(Drop::kLoss) : std::move(frame);
}

FramePtr FaultChain::apply(DuplicateState& state, FramePtr frame, Context context) {
  if (!state.due.is_due()) return frame;
  ++surroundings_.record.duplicated;
  auto twin = surroundings_.store.copy(*frame);
  pass(std::move(frame), context.stage + 1, context.now_ns);
  return twin;
}

// Holds a frame until the number of frames that pass it have passed, or until its alarm.
FramePtr FaultChain::apply(ReorderState& state, FramePtr frame, Context context) {
  if (state.due.is_due()) {
    state.held = std::move(frame);
    state.to_pass = state.order.by;
    ++state.generation;
    waiting_.put(context.now_ns + state.order.within_ns,
                 {.frame = nullptr, .stage = context.stage, .generation = state.generation});
    return nullptr;
  }
  if (!state.held || --state.to_pass != 0) return frame;
  ++surroundings_.record.reordered;
  pass(std::move(frame), context.stage + 1, context.now_ns);
  return std::move(state.held);
}

FramePtr FaultChain::apply(CorruptState& state, FramePtr frame, Context /*context*/) {
  if (!state.due.is_due()) return frame;
  const auto& order = state.order;
  if (corrupt(*frame, order,
              {.subscribers = surroundings_.subscribers,
               .max_packet_octets = surroundings_.max_packet_octets})) {
    ++surroundings_.record.corrupted[static_cast<std::size_t>(order.field)];
  }
  return frame;
}

FramePtr FaultChain::apply(DelaySeries& series, FramePtr frame, Context context) {
  wait_until(context.now_ns + series.next_ns(), std::move(frame), context);
  return nullptr;
}

FramePtr FaultChain::apply(BufferState& state, FramePtr frame, Context context) {
  const auto came_ns = state.time.of(*frame, context.now_ns);
  const auto departure_ns = state.queue.departure(came_ns);
  if (!departure_ns) return drop(Drop::kBuffer);
  wait_until(context.now_ns + (*departure_ns - came_ns), std::move(frame), context);
  return nullptr;
}

FramePtr FaultChain::apply(SulkState& state, FramePtr frame, Context context) {
  const auto came_ns = state.time.of(*frame, context.now_ns);
  const auto origin_ns = state.time.is_departures() ? 0 : surroundings_.since_ns;
  if (auto* meter = std::get_if<TokenBucket>(&state.cause)) {
    if (!meter->take(came_ns)) state.overloaded_ns = came_ns;
  } else if (const auto newest_ns =
                 std::get<Recurrence>(state.cause).newest_ns(came_ns - origin_ns)) {
    state.overloaded_ns = origin_ns + *newest_ns;
  }
  if (!state.overloaded_ns || came_ns - *state.overloaded_ns >= state.for_ns) return frame;
  surroundings_.record.sulk = {.newest_overload_ns = *state.overloaded_ns - origin_ns,
                               .last_drop_ns = came_ns - origin_ns,
                               .last_number = number_of(*frame).value_or(0)};
  return drop(Drop::kSulk);
}

}  // namespace natxy::gateway
