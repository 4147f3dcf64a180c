// Trials for the testbed of rings: a few thousand frames at a moderate rate, with time to arrive.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ring_nets.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::tests {

inline constexpr std::uint64_t kFrames = 3000;  // fewer than a pool has, so none waits for a buffer
inline constexpr std::uint64_t kMillisecond = 1'000'000;

inline spec::Stream stream_in(const Net& net, spec::Direction direction,
                              Varying varying = Varying::kNothing) {
  spec::Stream stream{.direction = direction};
  stream.segments = {{.frames = kFrames, .rate_fps = 30'000, .pause_ns = 0}};
  stream.foreground = traffic_in(net, direction, varying);
  return stream;
}

// The warm-up has no probes, so that the gateway's record has none.
inline spec::TrialSpec trial_of(std::vector<spec::Stream> streams) {
  static std::uint32_t nonce = 0x1000;
  spec::TrialSpec spec{.seed = 42, .nonce = nonce++, .drain_ns = 40 * kMillisecond};
  spec.lateness_tolerance_ns = 10'000 * kMillisecond;
  spec.warm_up.mode = spec::WarmUpMode::kNeighbours;
  spec.phases = {{.name = "test", .gap_ns = 0, .streams = std::move(streams)}};
  return spec;
}

inline spec::TrialSpec forward_trial(const Net& net) {
  return trial_of({stream_in(net, spec::Direction::kForward)});
}

inline spec::TrialSpec both_ways_trial(const Net& net, Varying varying = Varying::kNothing) {
  return trial_of({stream_in(net, spec::Direction::kForward, varying),
                   stream_in(net, spec::Direction::kReverse, varying)});
}

}  // namespace natxy::tests
