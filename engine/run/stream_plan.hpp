// A stream of a spec, compiled once before the trial. Sender and receiver share it, read-only.
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
#include "run/schedule.hpp"
#include "run/state_table.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::run {

// How a stream uses the trial's connections. Its flow is that of the establishing stream, which
// maps a connection's number to its four-tuple.
struct ConnectionPlan {
  spec::Role role = spec::Role::kEstablish;
  StateTable* table = nullptr;
  std::uint64_t first = 0;  // the first connection that the frames establish
  WalkPlan walk;            // used by streams that use connections

  [[nodiscard]] bool responds() const { return role == spec::Role::kRespond; }
  // Returns whether the stream has no more to send after it has used each connection once.
  [[nodiscard]] bool ends() const {
    return role != spec::Role::kEstablish &&
           (walk.order == spec::Order::kLinear || walk.order == spec::Order::kMissing);
  }
  // Returns the connection that the frame of this ordinal establishes.
  [[nodiscard]] std::uint64_t established_by(std::uint64_t ordinal) const {
    if (walk.order != spec::Order::kRepeating) return first + ordinal;
    return (flow::mix(ordinal ^ walk.key) >> 32U) * walk.connections >> 32U;
  }
};

struct KindPlan {
  flow::Flow flow;
  frame::Departure departure;
  frame::Arrival arrival;
  frame::Quotation quotation;
  std::uint8_t hop_limit = 0;                 // on arrival, from the spec; 0: learned
  std::optional<ConnectionPlan> connections;  // absent in stateless traffic
};

// The traffic that a port sends, by kind; null: none.
using SentHere = std::array<const frame::Quotation*, 2>;

struct StreamPlan {
  spec::Direction direction;
  std::uint32_t tag;
  frame::StreamId stream;  // kind bit clear
  Schedule schedule;
  Mix mix;
  frame::Layouts layouts;         // of the stream's frames on arrival
  std::array<KindPlan, 2> kinds;  // by spec::Kind

  [[nodiscard]] const KindPlan& kind(spec::Kind kind) const {
    return kinds[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] SentHere quotations() const { return {&kinds[0].quotation, &kinds[1].quotation}; }
  [[nodiscard]] spec::Side from() const { return spec::from_side(direction); }
  [[nodiscard]] spec::Side to() const { return spec::to_side(direction); }
  // Returns whether the stream is phase 1 or uses each connection once.
  [[nodiscard]] bool takes_each_once() const {
    const auto& connections = kind(spec::Kind::kForeground).connections;
    return connections && (connections->role == spec::Role::kEstablish || connections->ends());
  }
  [[nodiscard]] flow::Shape shape() const {
    const auto& [foreground, background] = kinds;
    return {.addresses_vary =
                foreground.flow.shape().addresses_vary || background.flow.shape().addresses_vary,
            .enumerated = foreground.flow.shape().enumerated || background.flow.shape().enumerated,
            .connected = foreground.connections || background.connections,
            .tcp = foreground.departure.is_tcp() || background.departure.is_tcp()};
  }
};

// What compile() needs beside the stream. links: the MAC addresses and VLAN tags of the sending
// side by IP version (4, then 6). far_link: the VLAN tags of the other side.
struct StreamContext {
  std::uint64_t seed;
  std::uint32_t nonce;
  std::size_t phase;
  TickRate ticks;
  std::array<frame::Link, 2> links;
  frame::Link far_link{};
  const spec::Stream* establishing = nullptr;  // null in a stateless trial
  StateTable* table = nullptr;                 // the state table
};
// Compiles a stream of the spec.
[[nodiscard]] StreamPlan compile(const spec::Stream& stream, const StreamContext& context);

// Shortens the stream to this many foreground frames.
void shorten(StreamPlan& plan, const spec::Stream& stream, std::uint64_t foreground_frames,
             TickRate ticks);

}  // namespace natxy::run
