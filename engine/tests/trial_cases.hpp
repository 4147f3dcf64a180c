// Trials for the tests over fake devices.
#pragma once

#include <atomic>
#include <utility>

#include "fake_runner.hpp"
#include "traffic_cases.hpp"

namespace natxy::tests {

inline spec::Stream stream(spec::Direction direction, std::uint64_t frames,
                           std::uint64_t rate_fps) {
  spec::Stream stream;
  stream.direction = direction;
  stream.mix = {.n = 4, .m = 3};
  stream.segments = {{.frames = frames, .rate_fps = rate_fps, .pause_ns = 0}};
  stream.foreground = varied_traffic(spec::IpVersion::k4, spec::IpVersion::k4);
  stream.background = traffic(spec::IpVersion::k6, spec::IpVersion::k6);
  return stream;
}

// Three threads and more wait for each other where two cores are busy.
constexpr std::uint64_t drain_ns(unsigned workers) {
  return workers > 2 ? 300'000'000 : 100'000'000;
}

inline spec::TrialSpec both_ways(std::uint64_t frames = 2000, std::uint64_t rate_fps = 100'000) {
  spec::TrialSpec spec;
  spec.seed = 1;
  spec.nonce = 2;
  spec.drain_ns = drain_ns(1);
  spec.lateness_tolerance_ns = 10'000'000'000;  // the machine may be busy, which is not tested
  spec.phases = {{.name = "test",
                  .gap_ns = 0,
                  .streams = {stream(spec::Direction::kForward, frames, rate_fps),
                              stream(spec::Direction::kReverse, frames, rate_fps)}}};
  return spec;
}

inline const std::atomic<bool> kGoOn{false};
inline const run::Poll kQuiet = [](const spec::Progress&) {};

}  // namespace natxy::tests
