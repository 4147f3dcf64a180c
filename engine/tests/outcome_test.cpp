// Tests what makes a trial invalid, and by which clock it says that it has measured.
#include "run/outcome.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "fake_runner.hpp"
#include "reasons.hpp"
#include "trial_cases.hpp"

namespace natxy::run {
namespace {

using tests::both_ways;
using tests::FakeDevice;
using tests::kGoOn;
using tests::kQuiet;
using Runner = tests::FakeRunner;

// The observer may be kept from its core for as long as the trial sends.
bool under_way(const spec::Progress& progress) {
  return progress.stage == spec::Stage::kSending || progress.stage == spec::Stage::kDraining;
}

TEST(Trial, WhatTheTesterDidWrongMakesItInvalid) {
  FakeDevice device(1);
  auto spec = both_ways(100);
  spec.lateness_tolerance_ns = 1;  // no machine is that punctual
  const auto late = Runner(device).run(spec, kQuiet, kGoOn);
  EXPECT_FALSE(late.valid);
  EXPECT_EQ(late.invalid_reasons.front().code, spec::ReasonCode::kLeftLate);

  device.ring_frames = 0;
  spec.lateness_tolerance_ns = 10'000'000'000;
  spec.nonce = 3;
  const auto unpolled = Runner(device).run(spec, kQuiet, kGoOn);
  EXPECT_TRUE(unpolled.valid) << "a ring of unknown size says nothing";
}

// A gateway that was away delivers its queue a hundred times faster than the trial's rate, while
// the receiver is away for 0.1 ms, which is two frames at the trial's rate.
spec::TrialResult with_a_burst_of(std::size_t frames, std::size_t ring_frames) {
  FakeDevice device(1);
  device.ring_frames = static_cast<unsigned>(ring_frames);
  auto spec = both_ways(2000, 20'000);
  spec.warm_up.mode = spec::WarmUpMode::kNeighbours;
  spec.phases[0].streams.pop_back();
  auto& wire = device.wires[1];
  wire.hold();
  device.rx_queue(spec::Side::kRight).before_receive = [&] {
    if (wire.held() < frames) return;
    const auto away = tests::SteadyClock::now();
    while (tests::SteadyClock::now() - away < 100'000) {
    }
    (void)wire.release(ring_frames);
  };
  return Runner(device).run(spec, kQuiet, kGoOn);
}

TEST(Trial, ABurstThatTheTestersRingHasNoRoomForIsNoLossOfTheGateways) {
  const auto result = with_a_burst_of(400, 256);
  ASSERT_TRUE(result.streams[0].losses);
  EXPECT_GE(result.streams[0].losses->frames, 400U - 256U);
  EXPECT_FALSE(result.valid);
  ASSERT_FALSE(result.invalid_reasons.empty());
  EXPECT_EQ(result.invalid_reasons.front().code, spec::ReasonCode::kRingFull)
      << result.invalid_reasons.front();
}

TEST(Trial, ABurstThatTheRingHoldsIsNoReason) {
  const auto result = with_a_burst_of(400, 1024);
  EXPECT_FALSE(result.streams[0].losses);
  EXPECT_TRUE(result.valid) << result.invalid_reasons.front();
}

TEST(Trial, ADropCounterThatMovedMakesItInvalid) {
  FakeDevice device(1);
  const Poll drop = [&](const spec::Progress& progress) {
    if (under_way(progress)) device.counts[1].kernel_rx_dropped = 5;
  };
  const auto result = Runner(device).run(both_ways(), drop, kGoOn);
  EXPECT_FALSE(result.valid);
  EXPECT_EQ(result.ports[1].counters.kernel_rx_dropped, 5U);
  const auto& reason = result.invalid_reasons.front();
  EXPECT_EQ(reason.code, spec::ReasonCode::kKernelRxDropped);
  EXPECT_EQ(reason.where, "right");
  EXPECT_EQ(reason.facts.at("frames"), 5);
}

TEST(Trial, EachDropCounterIsAReasonOfItsOwn) {
  using Counters = spec::PortCounters;
  using spec::ReasonCode;
  const std::vector<std::pair<std::uint64_t Counters::*, ReasonCode>> counters{
      {&Counters::rx_missed, ReasonCode::kRxMissed},
      {&Counters::rx_no_buffer, ReasonCode::kRxNoBuffer},
      {&Counters::rx_errors, ReasonCode::kRxErrors},
      {&Counters::tx_errors, ReasonCode::kTxErrors}};
  FakeDevice device(1);
  for (const auto& [counter, code] : counters) {
    device.counts[0] = {};
    const Poll drop = [&device, moves = counter](const spec::Progress& progress) {
      if (under_way(progress)) device.counts[0].*moves = 1;
    };
    const auto result = Runner(device).run(both_ways(), drop, kGoOn);
    ASSERT_EQ(result.invalid_reasons.size(), 1U) << spec::name_of(spec::kReasonCodes, code);
    EXPECT_EQ(result.invalid_reasons.front().code, code) << result.invalid_reasons.front();
  }
}

TEST(Trial, OneFrameThatLeftTooLateMakesItInvalid) {
  FakeDevice device(1);
  auto spec = both_ways();
  spec.lateness_tolerance_ns = 2'000'000;
  unsigned calls = 0;
  device.tx_queue(spec::Side::kLeft, 0).accept = [&calls](unsigned n) {
    const auto away = tests::SteadyClock::now();
    while (calls == 50 && tests::SteadyClock::now() - away < 4'000'000) {
    }
    ++calls;
    return n;
  };
  const auto result = Runner(device).run(spec, kQuiet, kGoOn);
  ASSERT_FALSE(result.valid);
  EXPECT_EQ(result.invalid_reasons.front().code, spec::ReasonCode::kLeftLate);
}

TEST(Trial, ByWhichClockDelaysAreIsSaid) {
  constexpr const char* kBehindTheSendCall = "send call, transmit queue, DMA, serialisation on ";
  FakeDevice device(1);
  const auto none = Runner(device).run(both_ways(), kQuiet, kGoOn);
  EXPECT_EQ(none.delay_clock, "tsc");
  EXPECT_NE(none.delay_definition.find("just after the receive call"), std::string::npos);
  EXPECT_NE(none.delay_definition.find(kBehindTheSendCall), std::string::npos);
  EXPECT_NE(none.delay_definition.find("from the arriving port to the receive call"),
            std::string::npos);
  device.clocks[1] = {.own = true, .error_ns = 120};
  const auto right = Runner(device).run(both_ways(), kQuiet, kGoOn);
  EXPECT_EQ(right.delay_clock, "tsc (left), port (right)");
  EXPECT_NE(right.delay_definition.find(kBehindTheSendCall), std::string::npos);
  EXPECT_NE(right.delay_definition.find("to its stamp or the receive call"), std::string::npos);
  EXPECT_EQ(right.ports[1].clock.error_ns, 120.0);
  device.clocks[0] = {.own = true, .error_ns = 90};
  const auto both = Runner(device).run(both_ways(), kQuiet, kGoOn);
  EXPECT_TRUE(both.valid);
  EXPECT_EQ(both.delay_clock, "port");
  EXPECT_NE(both.delay_definition.find("own stamp"), std::string::npos);
  EXPECT_NE(both.delay_definition.find(kBehindTheSendCall), std::string::npos);
  for (const auto* told : {&none, &right, &both}) {
    EXPECT_EQ(told->delay_definition.find("at most"), std::string::npos) << "nothing bounds it";
  }
  EXPECT_EQ(both.delay_definition.find("receive call"), std::string::npos);
}

TEST(Trial, AClockThatIsNotKnownWellMakesItInvalid) {
  FakeDevice device(1);
  device.clocks[1] = {.own = true, .error_ns = 20'400};
  const auto result = Runner(device).run(both_ways(), kQuiet, kGoOn);
  EXPECT_FALSE(result.valid);
  const auto& reason = result.invalid_reasons.front();
  EXPECT_EQ(reason.code, spec::ReasonCode::kClockError);
  EXPECT_EQ(reason.where, "right");
  EXPECT_EQ(reason.facts.at("error_ns"), 20'400);
  EXPECT_EQ(reason.facts.at("limit_ns"), 20'000);
}

TEST(Trial, FramesWithoutAStampMakeItInvalid) {
  FakeDevice device(1);
  device.clocks[0] = {.own = true, .error_ns = 1, .unstamped = 2, .implausible = 3};
  const Poll strip = [&](const spec::Progress& progress) {
    if (under_way(progress)) {
      device.clocks[0].unstamped = 7;
      device.clocks[0].implausible = 4;
    }
  };
  const auto result = Runner(device).run(both_ways(), strip, kGoOn);
  EXPECT_FALSE(result.valid);
  EXPECT_EQ(result.ports[0].clock.unstamped, 5U);
  EXPECT_EQ(result.ports[0].clock.implausible, 1U);
  ASSERT_GE(result.invalid_reasons.size(), 2U);
  EXPECT_EQ(result.invalid_reasons[0].code, spec::ReasonCode::kUnstamped);
  EXPECT_EQ(result.invalid_reasons[0].where, "left");
  EXPECT_EQ(result.invalid_reasons[0].facts.at("frames"), 5);
}

TEST(Trial, ALinkThatIsLostMakesItInvalid) {
  FakeDevice device(1);
  const Poll lose = [&](const spec::Progress& progress) {
    if (under_way(progress)) device.links_up[0] = false;
  };
  const auto result = Runner(device).run(both_ways(), lose, kGoOn);
  EXPECT_FALSE(result.valid);
  EXPECT_EQ(result.invalid_reasons.back().code, spec::ReasonCode::kLinkDown);
  EXPECT_EQ(result.invalid_reasons.back().where, "left");
}

TEST(Trial, LossIsNotInvalid) {
  FakeDevice device(1);
  auto& queue = device.tx_queue(spec::Side::kLeft, 0);
  queue.gateways_fault = true;
  unsigned calls = 0;
  std::uint64_t offered = 0;
  std::vector<std::uint64_t> lost;
  queue.accept = [&](unsigned n) {
    const bool refuses = ++calls > 50 && calls < 100;
    for (unsigned i = 0; refuses && i < n; ++i) lost.push_back(offered + i);
    offered += n;
    return refuses ? 0 : n;
  };
  auto spec = both_ways();
  spec.warm_up.mode = spec::WarmUpMode::kNeighbours;  // without probes, which have no number
  const auto result = Runner(device).run(spec, kQuiet, kGoOn);
  EXPECT_TRUE(result.valid);
  ASSERT_TRUE(result.streams[0].losses);
  EXPECT_EQ(result.streams[0].losses->first_number, lost.front());
  EXPECT_EQ(result.streams[0].losses->last_number, lost.back());
  const auto& kinds = result.streams[0].kinds;
  EXPECT_GT(result.streams[0].refused_by_gateway, 0U);
  EXPECT_EQ(kinds[0]->lost + kinds[1]->lost, result.streams[0].refused_by_gateway);
}

}  // namespace
}  // namespace natxy::run
