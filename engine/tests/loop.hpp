// A sender and a receiver with a wire between them, over fake ports.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "fake_port.hpp"
#include "run/receiver.hpp"
#include "run/sender.hpp"
#include "traffic_cases.hpp"

namespace natxy::tests {

inline constexpr flow::Shape kVaried{.addresses_vary = true};
inline constexpr run::Ticks kStart = 100;
inline constexpr std::uint64_t kWindow = 4096;
using TestSender = run::Sender<kVaried, FakeClock, FakeTxQueue>;
using TestReceiver = run::Receiver<kVaried, FakeClock, FakeRxQueue>;

inline spec::Stream stream_of(std::uint64_t frames, std::uint64_t rate_fps, spec::Mix mix = {}) {
  spec::Stream stream;
  stream.segments = {{.frames = frames, .rate_fps = rate_fps, .pause_ns = 0}};
  stream.mix = mix;
  stream.foreground = varied_traffic(spec::IpVersion::k4, spec::IpVersion::k4);
  stream.background = traffic(spec::IpVersion::k6, spec::IpVersion::k6);
  return stream;
}

class Loop : public testing::Test {
 protected:
  explicit Loop(spec::Stream stream = stream_of(1000, 1'000'000))
      : plan_(plan_of(stream)), tx_(wire_), rx_(wire_) {
    FakeClock::time = 0;
    for (unsigned kind = 0; kind < 2; ++kind) {
      tx_.fill(kind, plan_.kinds[kind].departure.octets());
    }
  }

  // Sends all frames; the clock advances by `tick` between steps.
  run::SenderReport send_all(run::Ticks tick, run::Catching catching = {}) {
    TestSender sender(plan_, {}, tx_, control_, catching);
    sender.begin(kStart);
    while (!control_.draining()) {
      sender.step(FakeClock::time);
      FakeClock::time += tick;
    }
    return sender.report();
  }
  run::ReceiverReport receive_all(run::ReceiverSetup setup) {
    run::Arrivals arrivals(kWindow);
    setup.arrivals = &arrivals;
    TestReceiver receiver(&plan_, setup, rx_);
    receiver.begin(kStart);
    while (wire_.size() > 0) receiver.step(FakeClock::time);
    return receiver.report();
  }
  [[nodiscard]] run::ReceiverSetup setup() { return {.tag = plan_.tag, .arrivals = &arrivals_}; }
  std::vector<std::vector<std::uint8_t>> drain_wire() {
    std::vector<std::vector<std::uint8_t>> frames;
    std::vector<std::uint8_t> octets;
    while (wire_.take(octets)) frames.push_back(octets);
    return frames;
  }
  void put(const std::vector<std::vector<std::uint8_t>>& frames) {
    for (const auto& frame : frames) wire_.put(frame);
  }

  run::StreamPlan plan_;
  Wire wire_;
  FakeTxQueue tx_;
  FakeRxQueue rx_;
  run::Arrivals arrivals_{kWindow};  // of receivers that a test makes itself
  std::atomic<bool> cancelled_{false};
  run::Control control_{1, 1000, cancelled_};
};

class MixedLoop : public Loop {
 protected:
  MixedLoop() : Loop(stream_of(1000, 1'000'000, {.n = 10, .m = 9})) {}
};

}  // namespace natxy::tests
