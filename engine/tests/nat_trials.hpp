// Trials of connections through the calibration gateway as a NAT, and the parts of their results.
#pragma once

#include <stdexcept>
#include <string>

#include "ring_trials.hpp"
#include "spec/trial_result.hpp"

namespace natxy::tests {

// 3000 connections in all.
inline constexpr spec::Series kSourcePorts{spec::SeriesMode::kIncreasing, 2000, 2099};
inline constexpr spec::Series kDestinationPorts{spec::SeriesMode::kIncreasing, 1, 30};

struct NatNet {
  Net net;
  std::string nat;
  spec::Direction outward = spec::Direction::kForward;  // the initiator's direction
};

inline std::string nat_of(const char* kind, const char* inside, const std::string& pool,
                          const std::string& more) {
  return std::string(R"("kind": ")") + kind + R"(", "inside": ")" + inside + R"(", "pool": [")" +
         pool + R"("], "mapping": "address-and-port-dependent", "port_choice": "pseudorandom")" +
         more;
}

inline NatNet nat44(const std::string& more = "") {
  return {route44(), nat_of("nat44", "left", "198.19.200.1", more)};
}
inline NatNet nat44_inside_right() {
  return {route44(), nat_of("nat44", "right", "198.18.200.1", ""), spec::Direction::kReverse};
}
inline NatNet nat64() {
  return {{.name = "nat64",
           .left = spec::IpVersion::k6,
           .right = spec::IpVersion::k4,
           .left_host_on_left = {"2001:2::2", 14, 14},
           .right_host_on_left = {"64:ff9b::198.19.0.2", 14, 14},
           .left_host_on_right = {"0.0.0.0", 2, 2},
           .right_host_on_right = {"198.19.0.2", 2, 2},
           .routes = route("2001:2::/112", "left", "2001:2::2") + ", " +
                     route("198.19.0.0/16", "right", "198.19.0.2"),
           .translation = "null"},
          nat_of("nat64", "left", "198.19.200.1", R"(, "prefix": "64:ff9b::/96")")};
}
// Without a NAT: the outside is IPv6, and the tester learns the initiator's own addresses.
inline NatNet router66() {
  return {route66(), ""};
}

// Returns one of four nets, for tests that have the same result in all.
inline NatNet nat_net(int number) {
  if (number == 0) return nat44();
  if (number == 1) return nat44_inside_right();
  return number == 2 ? nat64() : router66();
}
inline spec::Direction inward(const NatNet& of) {
  return of.outward == spec::Direction::kForward ? spec::Direction::kReverse
                                                 : spec::Direction::kForward;
}

inline std::string config_of(const NatNet& of, const std::string& faults = "") {
  auto config = gateway_config(of.net, faults);
  if (of.nat.empty()) return config;
  config.pop_back();
  return config + R"(, "nat": {)" + of.nat + "}}";
}

inline spec::Stream connected(const NatNet& of, spec::Role role, spec::Order order) {
  const bool outward = role != spec::Role::kRespond;
  auto stream = stream_in(of.net, outward ? of.outward : inward(of));
  auto& traffic = *stream.foreground;
  traffic.selection = spec::Selection::kEnumeratePseudorandom;
  traffic.source_port = outward ? kSourcePorts : kDestinationPorts;
  traffic.destination_port = outward ? kDestinationPorts : kSourcePorts;
  traffic.connections = spec::Connections{.role = role, .order = order};
  return stream;
}

// Phase 1, validation, validation of the missing ones, both directions.
inline spec::TrialSpec trial_in(const NatNet& of, spec::Order respond = spec::Order::kPseudorandom,
                                spec::Order initiate = spec::Order::kPseudorandom) {
  auto spec = trial_of({connected(of, spec::Role::kEstablish, spec::Order::kLinear)});
  spec.phases[0].name = "establish";
  spec.phases.push_back(
      {.name = "validate", .streams = {connected(of, spec::Role::kRespond, spec::Order::kLinear)}});
  spec.phases.push_back(
      {.name = "again", .streams = {connected(of, spec::Role::kRespond, spec::Order::kMissing)}});
  spec.phases.push_back({.name = "test",
                         .streams = {connected(of, spec::Role::kInitiate, initiate),
                                     connected(of, spec::Role::kRespond, respond)}});
  return spec;
}

// Phase 1 of half of the connections, which are then used in both directions, while one frame of
// four in the initiator's direction creates another one.
inline spec::TrialSpec churning_trial_in(const NatNet& of) {
  auto spec = trial_in(of);
  spec.phases.erase(spec.phases.begin() + 1, spec.phases.end() - 1);
  constexpr auto kMade = kFrames / 2;
  spec.phases.front().streams.front().segments.front().frames = kMade;
  auto& stream = spec.phases.back().streams.front();
  stream.mix = {.n = 4, .m = 3, .even = true};
  stream.background = stream.foreground;
  stream.background->connections = spec::Connections{.first = kMade};
  return spec;
}

// Phase 1, phase 1 of the missing ones, validation, validation of the missing ones.
inline spec::TrialSpec repaired_trial_in(const NatNet& of) {
  auto spec = trial_in(of);
  spec.phases.pop_back();
  spec.phases.insert(spec.phases.begin() + 1,
                     {.name = "make again",
                      .streams = {connected(of, spec::Role::kInitiate, spec::Order::kMissing)},
                      .minimum_connections = kFrames});
  return spec;
}

inline const spec::StreamResult& stream_of(const spec::TrialResult& result,
                                           const std::string& phase, spec::Direction direction) {
  for (const auto& stream : result.streams) {
    if (stream.phase == phase && stream.direction == direction) return stream;
  }
  throw std::runtime_error("no stream " + phase);
}
inline const spec::ConnectionCounters& connections_of(const spec::TrialResult& result,
                                                      const std::string& phase,
                                                      spec::Direction direction) {
  return stream_of(result, phase, direction).connections.value();
}

}  // namespace natxy::tests
