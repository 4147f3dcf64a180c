#include "run/stream_plan.hpp"

#include <algorithm>

#include "flow/permutation.hpp"
#include "spec/rules.hpp"

namespace natxy::run {
namespace {

constexpr std::uint64_t kWalk = 3;  // 0 to 2 are the flow's keys; one for each role

KindPlan compile_kind(const std::optional<spec::Traffic>& traffic, std::uint64_t seed,
                      const StreamContext& context) {
  if (!traffic) return {};
  const auto& link =
      context.links[traffic->departure.link_version() == spec::IpVersion::k4 ? 0 : 1];
  const auto numbers = traffic->connections ? frame::TcpNumbers(*traffic->connections, context.seed)
                                            : frame::TcpNumbers();
  return {.flow = flow::Flow(*traffic, seed),
          .departure = frame::Departure(*traffic, link, numbers),
          .arrival = frame::Arrival(*traffic, context.far_link, numbers),
          .quotation = frame::Quotation(*traffic, frame::tag_of(context.nonce)),
          .hop_limit = static_cast<std::uint8_t>(
              traffic->hop_limit_drop ? traffic->hop_limit - *traffic->hop_limit_drop : 0)};
}

frame::Layouts layouts_of(const spec::Stream& stream, const frame::Link& link) {
  std::vector<const spec::Traffic*> arriving;
  for (const auto* kind : {&stream.foreground, &stream.background}) {
    if (*kind) arriving.push_back(&**kind);
  }
  return {arriving, link.vlans.size()};
}

std::uint64_t seed_of(const StreamContext& context, spec::Direction direction, spec::Kind kind) {
  // All phases have the same seed, because phase 2 uses the connections of phase 1.
  return flow::derive(context.seed,
                      static_cast<std::uint64_t>(direction) * 2 + static_cast<std::uint64_t>(kind));
}

// Connects the plan to the state table. Connections are numbered by the establishing stream's
// enumeration, in all streams.
void connect(KindPlan& plan, const spec::Connections& use, const StreamContext& context) {
  const auto& made = *context.establishing;
  const auto seed = seed_of(context, made.direction, spec::Kind::kForeground);
  plan.flow = flow::Flow(*made.foreground, seed);
  plan.connections = ConnectionPlan{
      .role = use.role,
      .table = context.table,
      .first = use.first,
      .walk = {.table = context.table,
               .role = use.role,
               .order = use.order,
               .answered = use.segment.value_or(spec::TcpSegment::kSyn) != spec::TcpSegment::kSyn,
               .connections = spec::connections_of(made),
               .key = flow::derive(seed, kWalk + static_cast<std::uint64_t>(use.role))}};
}

}  // namespace

StreamPlan compile(const spec::Stream& stream, const StreamContext& context) {
  const auto seed = [&](spec::Kind kind) { return seed_of(context, stream.direction, kind); };
  using enum spec::Kind;
  StreamPlan plan{.direction = stream.direction,
                  .tag = frame::tag_of(context.nonce),
                  .stream = frame::StreamId(stream.direction, kForeground, context.phase, false),
                  .schedule = Schedule(stream.segments, context.ticks),
                  .mix = Mix(stream.mix),
                  .layouts = layouts_of(stream, context.far_link),
                  .kinds = {compile_kind(stream.foreground, seed(kForeground), context),
                            compile_kind(stream.background, seed(kBackground), context)}};
  for (const auto kind : {kForeground, kBackground}) {
    const auto& traffic = spec::traffic_of(stream, kind);
    if (traffic && traffic->connections) {
      connect(plan.kinds[static_cast<std::size_t>(kind)], *traffic->connections, context);
    }
  }
  return plan;
}

void shorten(StreamPlan& plan, const spec::Stream& stream, std::uint64_t foreground_frames,
             TickRate ticks) {
  const auto [n, m, even] = stream.mix;
  auto frames =
      even ? foreground_frames * n / m : foreground_frames / m * n + foreground_frames % m;
  auto segments = stream.segments;
  for (auto& segment : segments) {
    segment.frames = std::min(segment.frames, frames);
    frames -= segment.frames;
  }
  plan.schedule = Schedule(segments, ticks);
}

}  // namespace natxy::run
