#include "run/stream_plan.hpp"

#include "flow/hash.hpp"

namespace natxy::run {
namespace {

KindPlan compile_kind(const std::optional<spec::Traffic>& traffic, std::uint16_t frame_size_bytes,
                      std::uint64_t seed, const StreamContext& context) {
  if (!traffic) return {};
  const auto& link = context.links[traffic->departure.ip_version == spec::IpVersion::k4 ? 0 : 1];
  return {.flow = flow::Flow(*traffic, seed),
          .departure = frame::Departure(*traffic, frame_size_bytes, link),
          .arrival = frame::Arrival(*traffic, frame_size_bytes),
          .hop_limit = static_cast<std::uint8_t>(
              traffic->hop_limit_drop ? frame::kInitialHopLimit - *traffic->hop_limit_drop : 0)};
}

}  // namespace

StreamPlan compile(const spec::Stream& stream, const StreamContext& context) {
  const auto direction = static_cast<std::uint64_t>(stream.direction);
  // Phases share the seed: phase 2 must find phase 1's connections again.
  const auto seed_of = [&](std::uint64_t kind) {
    return flow::derive(context.seed, direction * 2 + kind);
  };
  return {
      .direction = stream.direction,
      .tag = frame::tag_of(context.nonce),
      .stream = frame::StreamId(stream.direction, spec::Kind::kForeground, context.phase, false),
      .schedule = Schedule(stream.segments, context.ticks),
      .mix = Mix(stream.mix),
      .kinds = {compile_kind(stream.foreground, stream.frame_size_bytes, seed_of(0), context),
                compile_kind(stream.background, stream.frame_size_bytes, seed_of(1), context)}};
}

}  // namespace natxy::run
