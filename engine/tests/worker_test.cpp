// Tests a worker from the start of a phase to its end.
#include "run/worker.hpp"

#include <gtest/gtest.h>

#include "fake_port.hpp"
#include "run/receiver.hpp"
#include "run/sender.hpp"
#include "traffic_cases.hpp"

namespace natxy::run {
namespace {

using tests::FakeClock;

constexpr flow::Shape kShape{};
constexpr Ticks kDrain = 1000;

spec::Stream one_frame() {
  spec::Stream stream;
  stream.segments = {{.frames = 1, .rate_fps = 1'000'000, .pause_ns = 0}};
  stream.foreground = tests::traffic(spec::IpVersion::k4, spec::IpVersion::k4);
  return stream;
}

// A gateway that forwards the frame and then advances the clock, so that the worker is away until
// long after the drain.
struct ForwardingInAbsence {
  tests::Wire& from;
  tests::Wire& to;
  Control& control;
  void step(Ticks) {
    std::vector<std::uint8_t> octets;
    while (from.take(octets)) to.put(octets);
    FakeClock::time += control.draining() ? 100 * kDrain : 1;
  }
};

struct Ticking {
  void step(Ticks) const { ++FakeClock::time; }
};

TEST(Worker, WhatCameWhileItWasKeptFromItsCoreIsTaken) {
  FakeClock::time = 0;
  const auto plan = tests::plan_of(one_frame());
  const std::atomic<bool> go_on{false};
  Control control(1, kDrain, go_on);
  tests::Wire out;
  tests::Wire in;
  tests::FakeTxQueue tx(out);
  tests::FakeRxQueue rx(in);
  tx.fill(0, plan.kinds[0].departure.octets());
  Sender<kShape, FakeClock, tests::FakeTxQueue> sender(plan, {}, tx, control);
  Arrivals arrivals(64);
  Receiver<kShape, FakeClock, tests::FakeRxQueue> receiver(
      &plan, {.tag = plan.tag, .arrivals = &arrivals}, rx);
  ForwardingInAbsence gateway{.from = out, .to = in, .control = control};
  Worker<FakeClock, decltype(sender), decltype(receiver), ForwardingInAbsence> worker;
  worker.senders = {&sender};
  worker.receivers = {&receiver};
  worker.services = {&gateway};
  worker.run(control, 1, 10);
  EXPECT_EQ(receiver.report().kinds[0].received, 1U);
  EXPECT_GT(receiver.report().poll_gap.max(), kDrain) << "and how long that was is told";
}

// Two send calls of 100 ticks are due at once. What the gateway has forwarded during the first is
// found before the second.
TEST(Worker, PollsAfterEachSendCall) {
  constexpr Ticks kCall = 100;
  FakeClock::time = 0;
  auto other_way = one_frame();
  other_way.direction = spec::Direction::kReverse;
  const auto plan = tests::plan_of(one_frame());
  const auto back = tests::plan_of(other_way);
  const std::atomic<bool> go_on{false};
  Control control(2, kDrain, go_on);
  tests::Wire wire;
  tests::Wire nowhere;
  tests::FakeTxQueue tx(wire);
  tests::FakeTxQueue tx_back(nowhere);
  for (auto* queue : {&tx, &tx_back}) {
    queue->fill(0, (queue == &tx ? plan : back).kinds[0].departure.octets());
    queue->accept = [](unsigned n) {
      FakeClock::time += kCall;
      return n;
    };
  }
  tests::FakeRxQueue rx(wire);
  Sender<kShape, FakeClock, tests::FakeTxQueue> sender(plan, {}, tx, control);
  Sender<kShape, FakeClock, tests::FakeTxQueue> sender_back(back, {}, tx_back, control);
  Arrivals arrivals(64);
  Receiver<kShape, FakeClock, tests::FakeRxQueue> receiver(
      &plan, {.tag = plan.tag, .arrivals = &arrivals}, rx);
  Ticking service;
  Worker<FakeClock, decltype(sender), decltype(receiver), Ticking> worker;
  worker.senders = {&sender, &sender_back};
  worker.receivers = {&receiver};
  worker.services = {&service};
  worker.run(control, 1, 10);
  EXPECT_EQ(receiver.report().kinds[0].received, 1U);
  EXPECT_LE(receiver.report().poll_gap.max(), kCall + 1);
}

// A service that is away for 500 ticks at time 2,000, and for 300 at time 4,000.
struct AwayTwice {
  void step(Ticks) const {
    const auto before = FakeClock::time;
    FakeClock::time += 10;
    if (before / 10 == 200) FakeClock::time += 490;
    if (before / 10 == 400) FakeClock::time += 290;
  }
};

TEST(Worker, LongRoundsAreToldByTheClockOfTheDueTimes) {
  FakeClock::time = 0;
  auto stream = one_frame();
  stream.segments = {{.frames = 6, .rate_fps = 1'000'000, .pause_ns = 0}};
  const auto plan = tests::plan_of(stream);
  const std::atomic<bool> go_on{false};
  Control control(1, kDrain, go_on);
  tests::Wire out;
  tests::FakeTxQueue tx(out);
  tx.fill(0, plan.kinds[0].departure.octets());
  Sender<kShape, FakeClock, tests::FakeTxQueue> sender(plan, {}, tx, control);
  using NoReceiver = Receiver<kShape, FakeClock, tests::FakeRxQueue>;
  AwayTwice service;
  Worker<FakeClock, decltype(sender), NoReceiver, AwayTwice> worker;
  worker.senders = {&sender};
  worker.services = {&service};
  worker.long_round = 200;
  constexpr Ticks kLead = 100;
  worker.run(control, 1, kLead);
  const auto& away = worker.report.away.list();
  ASSERT_EQ(away.size(), 2U);
  EXPECT_EQ(away[0].first, 2000U - kLead);
  EXPECT_EQ(away[0].end, 2500U - kLead);
  EXPECT_EQ(away[1].first, 4000U - kLead);
  EXPECT_EQ(away[1].end, 4300U - kLead);
  EXPECT_EQ(worker.report.worst_loop_gap, 500U);
}

TEST(Control, StartsAtItsTimeOrAsSoonAsAllAreReady) {
  FakeClock::time = 5000;
  const std::atomic<bool> go_on{false};
  EXPECT_EQ(Control(1, kDrain, go_on, 9000).arrive<FakeClock>(1, 100), 9000U);
  EXPECT_EQ(Control(1, kDrain, go_on, 5050).arrive<FakeClock>(1, 100), 5100U);
  EXPECT_EQ(Control(1, kDrain, go_on).arrive<FakeClock>(1, 100), 5100U);
}

}  // namespace
}  // namespace natxy::run
