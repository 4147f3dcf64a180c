// A stream of a spec, compiled once before the trial: what sender and receiver share, read-only.
#pragma once

#include <array>
#include <cstdint>

#include "flow/flow.hpp"
#include "frame/arrival.hpp"
#include "frame/departure.hpp"
#include "frame/stamp.hpp"
#include "run/mix.hpp"
#include "run/schedule.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::run {

struct KindPlan {
  flow::Flow flow;
  frame::Departure departure;
  frame::Arrival arrival;
  std::uint8_t hop_limit = 0;  // on arrival, where the spec says it; 0: learned
};

struct StreamPlan {
  spec::Direction direction;
  std::uint32_t tag;
  frame::StreamId stream;  // kind bit clear
  Schedule schedule;
  Mix mix;
  std::array<KindPlan, 2> kinds;  // by spec::Kind

  [[nodiscard]] const KindPlan& kind(spec::Kind kind) const {
    return kinds[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] spec::Side from() const {
    return direction == spec::Direction::kForward ? spec::Side::kLeft : spec::Side::kRight;
  }
  [[nodiscard]] spec::Side to() const {
    return direction == spec::Direction::kForward ? spec::Side::kRight : spec::Side::kLeft;
  }
  [[nodiscard]] flow::Shape shape() const {
    const auto& [foreground, background] = kinds;
    return {.addresses_vary =
                foreground.flow.shape().addresses_vary || background.flow.shape().addresses_vary,
            .enumerated = foreground.flow.shape().enumerated || background.flow.shape().enumerated};
  }
};

// The spec's stream as a plan. links: the MAC addresses by IP version (4, then 6) of the sending
// side.
struct StreamContext {
  std::uint64_t seed;
  std::uint32_t nonce;
  std::size_t phase;
  TickRate ticks;
  std::array<frame::Link, 2> links;
};
[[nodiscard]] StreamPlan compile(const spec::Stream& stream, const StreamContext& context);

}  // namespace natxy::run
