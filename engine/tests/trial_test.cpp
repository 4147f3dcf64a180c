// Tests whole trials over fake ports: workers, stages, phases, cancelling.
#include "run/trial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "fake_runner.hpp"
#include "reasons.hpp"
#include "trial_cases.hpp"

namespace natxy::run {
namespace {

using tests::both_ways;
using tests::drain_ns;
using tests::FakeDevice;
using tests::kGoOn;
using tests::kQuiet;
using Runner = tests::FakeRunner;

void expect_all_came(const spec::TrialResult& result, std::uint64_t frames) {
  ASSERT_EQ(result.streams.size(), 2U);
  for (const auto& stream : result.streams) {
    EXPECT_EQ(stream.due, frames);
    std::uint64_t received = 0;
    for (const auto& kind : stream.kinds) {
      ASSERT_TRUE(kind);
      EXPECT_EQ(kind->lost, 0U);
      EXPECT_EQ(kind->misdelivered.total(), 0U);
      EXPECT_EQ(kind->hop_limit, 64);
      EXPECT_EQ(kind->delay.count, kind->received);
      received += kind->received;
    }
    EXPECT_EQ(received, frames);
  }
}

class Workers : public testing::TestWithParam<unsigned> {};

TEST_P(Workers, AnyNumberCarryOutATrial) {
  FakeDevice device(GetParam(), 3);
  auto spec = both_ways();
  spec.drain_ns = drain_ns(GetParam());
  const auto result = Runner(device).run(spec, kQuiet, kGoOn);
  expect_all_came(result, 2000);
  EXPECT_TRUE(result.valid) << result.invalid_reasons.front();
  EXPECT_LE(result.workers.size(), GetParam());
  EXPECT_GE(result.duration_ns, 20e6 + static_cast<double>(spec.drain_ns));
}

INSTANTIATE_TEST_SUITE_P(Some, Workers, testing::Values(1U, 2U, 3U, 4U, 6U, 8U));

// Returns the forward stream of a trial in which its sender's core is away for 20 ms, in which 200
// frames become due.
spec::StreamResult with_an_absence(unsigned burst_limit_frames) {
  FakeDevice device(2);
  auto spec = both_ways(1000, 10'000);
  spec.burst_limit_frames = burst_limit_frames;
  auto& queue = device.tx_queue(spec::Side::kLeft, 0);
  queue.accept = [&queue](unsigned n) {
    if (queue.calls == 10) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return n;
  };
  return Runner(device).run(spec, kQuiet, kGoOn).streams.front();
}

TEST(Trial, ASenderThatIsBehindByMoreFramesThanTheLimitPauses) {
  const auto paused = with_an_absence(8);
  EXPECT_GE(paused.pauses.count, 1U);
  EXPECT_GE(paused.pauses.longest_ns, 18e6);
  EXPECT_LE(paused.largest_burst, 16U);
  const auto caught_up = with_an_absence(0);
  EXPECT_EQ(caught_up.pauses.count, 0U);
  EXPECT_GE(caught_up.largest_burst, 100U);
}

// Workers, and receive queues of each port.
class Queues : public testing::TestWithParam<std::pair<unsigned, unsigned>> {};

TEST_P(Queues, TogetherReceiveWhatOneReceives) {
  const auto [workers, queues] = GetParam();
  FakeDevice device(workers, 2, queues);
  auto spec = both_ways();
  spec.drain_ns = drain_ns(workers);
  const auto result = Runner(device).run(spec, kQuiet, kGoOn);
  expect_all_came(result, 2000);
  EXPECT_TRUE(result.valid) << result.invalid_reasons.front();
  unsigned receivers = 0;
  for (const auto& worker : result.workers) {
    for (const auto& task : worker.tasks) receivers += task.starts_with("receive") ? 1 : 0;
  }
  EXPECT_EQ(receivers, 2 * queues);
  for (const auto& port : result.ports) {
    EXPECT_EQ(port.queue_received.size(), queues);
    EXPECT_EQ(std::reduce(port.queue_received.begin(), port.queue_received.end()), 2000U);
  }
}

INSTANTIATE_TEST_SUITE_P(Some, Queues,
                         testing::Values(std::pair{1U, 2U}, std::pair{2U, 4U}, std::pair{6U, 2U},
                                         std::pair{8U, 4U}));

TEST(Trial, WhatNeedsOneReceiveQueueIsRefusedWithMore) {
  FakeDevice device(1, 1, 2);
  const auto refused = [&](const spec::Recording& recording) -> std::string {
    auto spec = both_ways();
    spec.recording = recording;
    try {
      Runner(device).run(spec, kQuiet, kGoOn);
    } catch (const spec::TrialError& error) {
      EXPECT_EQ(error.kind(), spec::ErrorKind::kSpec);
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refused({.ipdv = true}),
            "recording.ipdv: is true, but the engine has 2 receive queues a port (expected "
            "--rx-queues 1)");
  EXPECT_NE(refused({.frames = true}).find("recording.frames"), std::string::npos);
}

// A port that distributes frames in turn puts the two frames of a number into two queues.
TEST(Trial, AFrameThatArrivesOnTwoQueuesMakesItInvalid) {
  FakeDevice device(1, 1, 2);
  auto& second = *device.wires[1].further[0];
  std::vector<std::uint8_t> copy;
  device.rx_queue(spec::Side::kRight, 0).before_receive = [&] {
    if (copy.empty() && second.take(copy)) {
      second.put(copy);
      std::vector<tests::Wire*> further;
      std::swap(further, device.wires[1].further);  // into the first queue
      device.wires[1].put(copy);
      std::swap(further, device.wires[1].further);
    }
  };
  auto spec = both_ways(500);
  const auto result = Runner(device).run(spec, kQuiet, kGoOn);
  ASSERT_FALSE(result.valid);
  EXPECT_EQ(result.invalid_reasons.front().code, spec::ReasonCode::kTwoQueues)
      << result.invalid_reasons.front();
  EXPECT_EQ(result.invalid_reasons.front().facts.at("frames"), 1);
}

TEST(Trial, PortsAndPoolsLiveFromTrialToTrial) {
  FakeDevice device(1);
  Runner runner(device);
  for (std::uint32_t nonce = 10; nonce < 13; ++nonce) {
    auto spec = both_ways(200);
    spec.nonce = nonce;
    expect_all_came(runner.run(spec, kQuiet, kGoOn), 200);
  }
}

TEST(Trial, FramesOfAnEarlierTrialAreForeign) {
  FakeDevice device(1);
  auto early = both_ways(200);
  Runner(device).run(early, kQuiet, kGoOn);
  device.wires[1].put(std::vector<std::uint8_t>(60, 7));
  auto spec = both_ways(200);
  spec.nonce = 99;
  spec.warm_up.mode = spec::WarmUpMode::kNeighbours;
  const auto result = Runner(device).run(spec, kQuiet, kGoOn);
  EXPECT_EQ(result.ports[1].foreign, 1U);
  expect_all_came(result, 200);
}

TEST(Trial, PhasesFollowEachOther) {
  FakeDevice device(2);
  auto spec = both_ways(300);
  spec.phases[0].gap_ns = 5'000'000;
  auto second = spec.phases[0];
  second.name = "second";
  second.streams.pop_back();
  spec.phases.push_back(second);
  const auto result = Runner(device).run(spec, kQuiet, kGoOn);
  ASSERT_EQ(result.streams.size(), 3U);
  EXPECT_EQ(result.streams[2].phase, "second");
  EXPECT_EQ(result.streams[2].kinds[0]->lost, 0U);
  EXPECT_GT(result.streams[2].first_departure_ns, 105e6);
}

// The gap is counted from the end of the drain, not from when the engine sees this end. With a
// sanitizer, on a host that takes half of each core away, the preparation of a phase takes 0.1 s.
TEST(Trial, APhaseStartsWhenTheGapIsOver) {
  FakeDevice device(2);
  auto spec = both_ways(300);  // 3 ms, and 100 ms of drain
  spec.phases[0].gap_ns = 1'000'000'000;
  spec.phases.push_back(spec.phases[0]);
  bool slept = false;
  const Poll sleepy = [&](const spec::Progress& progress) {
    if (slept || progress.stage != spec::Stage::kDraining) return;
    slept = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
  };
  const auto result = Runner(device).run(spec, sleepy, kGoOn);
  ASSERT_TRUE(slept);
  ASSERT_EQ(result.streams.size(), 4U);
  EXPECT_GE(result.streams[2].first_departure_ns, 1103e6);
  EXPECT_LT(result.streams[2].first_departure_ns, 1500e6) << "700 ms and the gap are 1,700";
}

TEST(Shorten, LeavesAsManyForegroundFramesAsAreAskedFor) {
  const TickRate ticks(1'000'000'000);
  auto stream = both_ways(1000).phases[0].streams[0];
  for (const bool even : {false, true}) {
    for (const auto& [n, m] : {std::pair{4U, 3U}, {10U, 1U}, {7U, 5U}}) {
      stream.mix = {.n = n, .m = m, .even = even};
      for (std::uint64_t frames = 0; frames < 100; ++frames) {
        auto plan =
            compile(stream, {.seed = 1, .nonce = 1, .phase = 0, .ticks = ticks, .links = {}});
        shorten(plan, stream, frames, ticks);
        ASSERT_EQ(plan.mix.count(spec::Kind::kForeground, plan.schedule.frames()), frames)
            << n << ' ' << m << ' ' << even;
      }
    }
  }
}

// Returns the frames of the stream as phase 0 sends them.
void send_again(const spec::TrialSpec& spec, const spec::Stream& stream, tests::Wire& wire) {
  const auto plan = compile(stream, {.seed = spec.seed,
                                     .nonce = spec.nonce,
                                     .phase = 0,
                                     .ticks = TickRate(1'000'000'000),
                                     .links = {}});
  tests::FakeTxQueue queue(wire);
  for (unsigned kind = 0; kind < 2; ++kind) queue.fill(kind, plan.kinds[kind].departure.octets());
  std::atomic<bool> cancelled{false};
  Control control{1, 1000, cancelled};
  constexpr flow::Shape kShape{.addresses_vary = true};
  Sender<kShape, tests::FakeClock, tests::FakeTxQueue> sender(plan, {}, queue, control);
  tests::FakeClock::time = 0;
  sender.begin(0);
  while (!control.draining()) sender.step(tests::FakeClock::time += 1000);
}

TEST(Trial, WhatALaterPhaseReceivesOfAnEarlierOneIsLateInItsOwn) {
  auto spec = both_ways(40);
  // With a sanitizer, the preparation of the next phase takes a part of the gap; the observer is
  // called in the rest.
  spec.phases[0].gap_ns = 500'000'000;
  spec.phases.push_back(spec.phases[0]);  // with the same name
  bool sent = false;
  spec::TrialResult result;
  // The observer may be kept from its core for as long as the second phase sends.
  for (unsigned attempt = 0; attempt < 20 && !sent; ++attempt) {
    FakeDevice device(1);
    bool drained = false;
    const Poll straggle = [&](const spec::Progress& progress) {
      drained |= progress.stage == spec::Stage::kDraining;
      if (!drained || sent || progress.stage != spec::Stage::kSending) return;
      sent = true;
      send_again(spec, spec.phases[0].streams[0], device.wires[1]);
    };
    result = Runner(device).run(spec, straggle, kGoOn);
  }
  ASSERT_TRUE(sent);
  ASSERT_EQ(result.streams.size(), 4U);
  EXPECT_EQ(result.streams[0].kinds[0]->late, 30U);
  EXPECT_EQ(result.streams[0].kinds[1]->late, 10U);
  for (const auto stream : {1U, 2U, 3U}) {
    for (const auto& kind : result.streams[stream].kinds) EXPECT_EQ(kind->late, 0U);
  }
  for (const auto& stream : result.streams) {
    for (const auto& kind : stream.kinds) EXPECT_EQ(kind->misdelivered.total(), 0U);
  }
  EXPECT_TRUE(result.faults.empty());
}

TEST(Trial, ADirectionWithoutProbesIsNamed) {
  FakeDevice device(1);
  device.tx_queue(spec::Side::kRight, 0).accept = [](unsigned) { return 0U; };
  auto spec = both_ways();
  spec.warm_up.timeout_ns = 30'000'000;
  try {
    Runner(device).run(spec, kQuiet, kGoOn);
    FAIL() << "the warm-up succeeded without probes in one direction";
  } catch (const spec::TrialError& error) {
    EXPECT_EQ(error.kind(), spec::ErrorKind::kWarmUp);
    EXPECT_EQ(std::string(error.what()),
              "no probe frame arrived within 30 ms; reverse foreground: 0 sent from the right, "
              "none arrived on the left; reverse background: 0 sent from the right, none arrived "
              "on the left");
  }
}

// A stateless trial has probes, so a gateway that chooses addresses shows in them.
TEST(Trial, AWrongAddressOfProbesTellsWhatAStatefulGatewayNeeds) {
  FakeDevice device(1);
  auto spec = both_ways();
  spec.phases[0].streams[0].foreground->arrival.source = tests::address("198.18.0.9");
  spec.warm_up.timeout_ns = 30'000'000;
  try {
    Runner(device).run(spec, kQuiet, kGoOn);
    FAIL() << "the warm-up succeeded with a wrong address";
  } catch (const spec::TrialError& error) {
    EXPECT_TRUE(std::string(error.what())
                    .ends_with("those that arrived on the right had a wrong address (a stateful "
                               "gateway needs [connections] in the testbed)"))
        << error.what();
  }
}

// Returns the time from a cancel in the middle of the trial to the end.
run::Ticks cancel_a_long_trial() {
  FakeDevice device(2);
  std::atomic<bool> cancelled{false};
  run::Ticks asked = 0;
  const Poll poll = [&](const spec::Progress& progress) {
    if (asked != 0 || progress.stage != spec::Stage::kSending || progress.sent[0] == 0) return;
    cancelled = true;
    asked = tests::SteadyClock::now();
  };
  EXPECT_THROW((void)Runner(device).run(both_ways(10'000'000, 10'000), poll, cancelled),
               spec::TrialError);
  return tests::SteadyClock::now() - asked;
}

TEST(Trial, CancellingEndsItSoon) {
  auto fastest = kNever;  // of several tries, because other programs may have the cores
  for (int i = 0; i < 5 && fastest > 100'000'000; ++i) {
    fastest = std::min(fastest, cancel_a_long_trial());
  }
  EXPECT_LT(fastest, 100'000'000U);
}

}  // namespace
}  // namespace natxy::run
