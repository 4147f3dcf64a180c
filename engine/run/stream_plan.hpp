// A stream of a spec, compiled once before the trial: what sender and receiver share, read-only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "flow/flow.hpp"
#include "frame/arrival.hpp"
#include "frame/departure.hpp"
#include "frame/icmp_error.hpp"
#include "frame/stamp.hpp"
#include "run/connection_walk.hpp"
#include "run/icmp_tally.hpp"
#include "run/mix.hpp"
#include "run/schedule.hpp"
#include "run/state_table.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::run {

// What a stream does with the trial's connections. Its flow is then the establishing stream's, from
// a connection's number to its four-tuple.
struct ConnectionPlan {
  spec::Role role = spec::Role::kEstablish;
  StateTable* table = nullptr;
  WalkPlan walk;  // of a stream that uses connections

  [[nodiscard]] bool responds() const { return role == spec::Role::kRespond; }
  // An end after which there is nothing more to send.
  [[nodiscard]] bool ends() const {
    return role != spec::Role::kEstablish &&
           (walk.order == spec::Order::kLinear || walk.order == spec::Order::kMissing);
  }
  // The connection that the frame of this ordinal establishes.
  [[nodiscard]] std::uint64_t established_by(std::uint64_t ordinal) const {
    if (walk.order != spec::Order::kRepeating) return ordinal;
    return (flow::mix(ordinal ^ walk.key) >> 32U) * walk.connections >> 32U;
  }
};

struct KindPlan {
  flow::Flow flow;
  frame::Departure departure;
  frame::Arrival arrival;
  frame::Quotation quotation;
  std::uint8_t hop_limit = 0;                 // on arrival, where the spec says it; 0: learned
  std::optional<ConnectionPlan> connections;  // absent: stateless
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
  [[nodiscard]] SentHere quotations() const { return {&kinds[0].quotation, &kinds[1].quotation}; }
  [[nodiscard]] spec::Side from() const {
    return direction == spec::Direction::kForward ? spec::Side::kLeft : spec::Side::kRight;
  }
  [[nodiscard]] spec::Side to() const {
    return direction == spec::Direction::kForward ? spec::Side::kRight : spec::Side::kLeft;
  }
  // Phase 1, and whatever else takes each connection once.
  [[nodiscard]] bool takes_each_once() const {
    const auto& connections = kind(spec::Kind::kForeground).connections;
    return connections && (connections->role == spec::Role::kEstablish || connections->ends());
  }
  [[nodiscard]] flow::Shape shape() const {
    const auto& [foreground, background] = kinds;
    return {.addresses_vary =
                foreground.flow.shape().addresses_vary || background.flow.shape().addresses_vary,
            .enumerated = foreground.flow.shape().enumerated || background.flow.shape().enumerated,
            .connected = foreground.connections.has_value()};
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
  const spec::Stream* establishing = nullptr;  // null: a stateless trial
  StateTable* table = nullptr;                 // its entries
};
[[nodiscard]] StreamPlan compile(const spec::Stream& stream, const StreamContext& context);

// Cuts the stream off behind so many frames of its foreground.
void shorten(StreamPlan& plan, const spec::Stream& stream, std::uint64_t foreground_frames,
             TickRate ticks);

}  // namespace natxy::run
