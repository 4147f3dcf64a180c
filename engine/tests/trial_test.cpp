// Tests whole trials over fake ports: stages, phases, verdicts, cancelling.
#include "run/trial.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "fake_runner.hpp"
#include "traffic_cases.hpp"

namespace natxy::run {
namespace {

using spec::IpVersion;
using tests::FakeDevice;
using Runner = tests::FakeRunner;

spec::Stream stream(spec::Direction direction, std::uint64_t frames, std::uint64_t rate_fps) {
  spec::Stream stream;
  stream.direction = direction;
  stream.mix = {.n = 4, .m = 3};
  stream.segments = {{.frames = frames, .rate_fps = rate_fps, .pause_ns = 0}};
  stream.foreground = tests::varied_traffic(IpVersion::k4, IpVersion::k4);
  stream.background = tests::traffic(IpVersion::k6, IpVersion::k6);
  return stream;
}

spec::TrialSpec both_ways(std::uint64_t frames = 2000, std::uint64_t rate_fps = 100'000) {
  spec::TrialSpec spec;
  spec.seed = 1;
  spec.nonce = 2;
  spec.drain_ns = 300'000'000;                  // eight threads on two busy cores are slow
  spec.lateness_tolerance_ns = 10'000'000'000;  // the machine may be busy, which is not tested
  spec.phases = {{.name = "test",
                  .gap_ns = 0,
                  .streams = {stream(spec::Direction::kForward, frames, rate_fps),
                              stream(spec::Direction::kReverse, frames, rate_fps)}}};
  return spec;
}

const std::atomic<bool> kGoOn{false};
const Poll kQuiet = [](const spec::Progress&) {};

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
  const auto result = Runner(device).run(both_ways(), kQuiet, kGoOn);
  expect_all_came(result, 2000);
  EXPECT_TRUE(result.valid) << result.invalid_reasons.front();
  EXPECT_LE(result.workers.size(), GetParam());
  EXPECT_GE(result.duration_ns, 20e6 + 300e6);
}

INSTANTIATE_TEST_SUITE_P(Some, Workers, testing::Values(1U, 2U, 3U, 4U, 6U, 8U));

// Runs over a wire without translation: the external addresses are the inside ones. Phase 1,
// validation, and a phase 2 in which the tester learns the initiator's addresses again while the
// responder sends.
spec::TrialSpec of_connections(IpVersion version, std::uint64_t frames) {
  const auto of = [&](spec::Role role, spec::Order order) {
    const bool outward = role != spec::Role::kRespond;
    spec::Stream stream;
    stream.direction = outward ? spec::Direction::kForward : spec::Direction::kReverse;
    stream.segments = {{.frames = frames, .rate_fps = 100'000, .pause_ns = 0}};
    auto traffic = tests::traffic(version, version);
    if (!outward) {
      for (auto* pair : {&traffic.departure, &traffic.arrival}) {
        std::swap(pair->source, pair->destination);
      }
      std::swap(traffic.source_port, traffic.destination_port);
    }
    traffic.selection = spec::Selection::kEnumeratePseudorandom;
    traffic.connections = spec::Connections{.role = role, .order = order};
    stream.foreground = traffic;
    return stream;
  };
  using enum spec::Role;
  using enum spec::Order;
  auto spec = both_ways(frames);
  spec.warm_up.mode = spec::WarmUpMode::kNeighbours;
  spec.phases = {
      {.name = "establish", .streams = {of(kEstablish, kLinear)}},
      {.name = "validate", .streams = {of(kRespond, kLinear)}},
      {.name = "test", .streams = {of(kInitiate, kPseudorandom), of(kRespond, kPseudorandom)}}};
  return spec;
}

class Connections : public testing::TestWithParam<std::pair<IpVersion, unsigned>> {};

TEST_P(Connections, AreLearnedByOneThreadAndUsedByAnother) {
  const auto [version, workers] = GetParam();
  FakeDevice device(workers, 2);
  Runner runner(device);
  for (std::uint32_t nonce = 20; nonce < 22;
       ++nonce) {  // the second trial reuses the table's memory
    auto spec = of_connections(version, 2000);
    spec.nonce = nonce;
    const auto result = runner.run(spec, kQuiet, kGoOn);
    EXPECT_TRUE(result.valid) << result.invalid_reasons.front();
    ASSERT_TRUE(result.connections);
    EXPECT_EQ(result.connections->stored, 2000U);
    ASSERT_EQ(result.streams.size(), 4U);
    for (const auto& stream : result.streams) {
      EXPECT_EQ(stream.kinds[0]->received, 2000U) << stream.phase;
      EXPECT_EQ(stream.kinds[0]->misdelivered.total(), 0U);
      EXPECT_EQ(stream.connections->known, stream.phase == "establish" ? 0U : 2000U);
      EXPECT_EQ(stream.connections->changed + stream.connections->wrong, 0U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Some, Connections,
                         testing::Values(std::pair{IpVersion::k4, 1U}, std::pair{IpVersion::k4, 2U},
                                         std::pair{IpVersion::k6, 2U},
                                         std::pair{IpVersion::k4, 4U}));

std::vector<std::string> senders_of(const spec::TrialResult& result) {
  std::vector<std::string> senders;
  for (const auto& worker : result.workers) {
    for (const auto& task : worker.tasks) {
      if (task.starts_with("send")) senders.push_back(task);
    }
  }
  return senders;
}

// Frames alternate between kinds: with two senders, one would have the whole foreground but only
// half of the connections.
TEST(Trial, ConnectionsBesideBackgroundHaveOneSender) {
  FakeDevice device(4, 2);
  auto spec = of_connections(IpVersion::k4, 2000);
  auto& streams = spec.phases.back().streams;
  streams[0].mix = {.n = 2, .m = 1};
  streams[0].background = tests::traffic(IpVersion::k6, IpVersion::k6);
  const auto mixed = senders_of(Runner(device).run(spec, kQuiet, kGoOn));
  EXPECT_EQ(std::ranges::count(mixed, "send forward 1/2"), 1) << "phase 1 has no background";
  EXPECT_EQ(std::ranges::count(mixed, "send forward 1/1"), 1);
}

// A device whose workers begin after the trial has polled a few times, as while they touch much
// memory.
class SlowDevice : public FakeDevice {
 public:
  using FakeDevice::FakeDevice;
  void launch(unsigned worker, std::function<void()> work, bool realtime) {
    const auto begin = [this, work = std::move(work)] {
      for (int ms = 0; polls < 4 && ms < 5000; ++ms) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      work();
    };
    FakeDevice::launch(worker, begin, realtime);
  }
  std::atomic<int> polls{0};
};

TEST(Trial, TellsThatItTouchesTheTable) {
  SlowDevice device(2);
  TrialConnections connections;
  const auto spec = of_connections(IpVersion::k4, 2000);
  connections.prepare(spec, device, [&] { ++device.polls; }, kGoOn);
  EXPECT_GE(device.polls, 4);
  EXPECT_EQ(connections.table().entries(), 2000U);
  const auto polls = device.polls.load();
  connections.prepare(spec, device, [&] { ++device.polls; }, kGoOn);
  EXPECT_EQ(device.polls, polls) << "it has been touched";
}

std::size_t resident_pages() {
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  file >> size >> resident;
  return resident;
}

TEST(Trial, CancellingEndsTheTouchingOfTheTable) {
  FakeDevice device(2);
  std::atomic<bool> cancelled{false};
  auto spec = of_connections(IpVersion::k4, 2000);
  for (auto& phase : spec.phases) {
    for (auto& stream : phase.streams) stream.segments[0].frames = 1ULL << 27U;  // 1 GiB
  }
  Runner runner(device);
  const auto before = resident_pages();  // a sanitizer may free some of them meanwhile
  const Poll cancel = [&](const spec::Progress& progress) {
    cancelled = cancelled || progress.stage == spec::Stage::kTable;
  };
  try {
    (void)runner.run(spec, cancel, cancelled);
    FAIL() << "a cancelled trial went on";
  } catch (const spec::TrialError& error) {
    EXPECT_EQ(error.kind(), spec::ErrorKind::kCancelled);
  }
  EXPECT_EQ(device.resolved, 0);
  EXPECT_LT(resident_pages(), before + (1U << 28U) / 4096U);
}

TEST(Trial, WithoutAConnectionThereIsNoPhase2) {
  FakeDevice device(1);
  device.wires[1].cut = true;
  const auto result = Runner(device).run(of_connections(IpVersion::k4, 100), kQuiet, kGoOn);
  EXPECT_TRUE(result.incomplete);
  EXPECT_EQ(result.connections->stored, 0U);
  EXPECT_EQ(result.streams.size(), 1U);
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
  EXPECT_GT(result.streams[2].first_departure_ns, 305e6);
}

// The gap is counted from the end of the drain, not from when the engine sees this end. With a
// sanitizer, on a host that takes half of each core away, the preparation of a phase takes 0.1 s.
TEST(Trial, APhaseStartsWhenTheGapIsOver) {
  FakeDevice device(2);
  auto spec = both_ways(300);  // 3 ms, and 300 ms of drain
  spec.phases[0].gap_ns = 1'500'000'000;
  spec.phases.push_back(spec.phases[0]);
  bool slept = false;
  const Poll sleepy = [&](const spec::Progress& progress) {
    if (slept || progress.stage != spec::Stage::kDraining) return;
    slept = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  };
  const auto result = Runner(device).run(spec, sleepy, kGoOn);
  ASSERT_TRUE(slept);
  ASSERT_EQ(result.streams.size(), 4U);
  EXPECT_GE(result.streams[2].first_departure_ns, 1803e6);
  EXPECT_LT(result.streams[2].first_departure_ns, 2400e6) << "1,200 ms and the gap are 2,700";
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

TEST(Trial, WhatTheTesterDidWrongMakesItInvalid) {
  FakeDevice device(1);
  auto spec = both_ways(100);
  spec.lateness_tolerance_ns = 1;  // no machine is that punctual
  const auto late = Runner(device).run(spec, kQuiet, kGoOn);
  EXPECT_FALSE(late.valid);
  EXPECT_NE(late.invalid_reasons.front().find("after it was due"), std::string::npos);

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
  EXPECT_NE(
      result.invalid_reasons.front().find("waited for the tester at once, more than its ring"),
      std::string::npos)
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
    const bool under_way =
        progress.stage == spec::Stage::kSending || progress.stage == spec::Stage::kDraining;
    if (under_way) device.counts[1].kernel_rx_dropped = 5;
  };
  const auto result = Runner(device).run(both_ways(), drop, kGoOn);
  EXPECT_FALSE(result.valid);
  EXPECT_EQ(result.ports[1].kernel_rx_dropped, 5U);
  EXPECT_EQ(result.invalid_reasons.front(),
            "right port: 5 frames dropped by the network interface (kernel_rx_dropped)");
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
  EXPECT_EQ(result.invalid_reasons.front(),
            "right port: the error of its clock was 0.0204 ms (expected at most 0.02 ms); "
            "tester.arrival_clock = \"tsc\" does not use this clock");
}

TEST(Trial, FramesWithoutAStampMakeItInvalid) {
  FakeDevice device(1);
  device.clocks[0] = {.own = true, .error_ns = 1, .unstamped = 2, .implausible = 3};
  const Poll strip = [&](const spec::Progress& progress) {
    if (progress.stage == spec::Stage::kSending) {
      device.clocks[0].unstamped = 7;
      device.clocks[0].implausible = 4;
    }
  };
  const auto result = Runner(device).run(both_ways(), strip, kGoOn);
  EXPECT_FALSE(result.valid);
  EXPECT_EQ(result.ports[0].clock.unstamped, 5U);
  EXPECT_EQ(result.ports[0].clock.implausible, 1U);
  ASSERT_GE(result.invalid_reasons.size(), 2U);
  EXPECT_EQ(result.invalid_reasons[0],
            "left port: 5 frames without a time stamp of the port's clock; tester.arrival_clock = "
            "\"tsc\" does not use this clock");
}

TEST(Trial, ALinkThatIsLostMakesItInvalid) {
  FakeDevice device(1);
  const Poll lose = [&](const spec::Progress& progress) {
    if (progress.stage == spec::Stage::kSending) device.links_up[0] = false;
  };
  const auto result = Runner(device).run(both_ways(), lose, kGoOn);
  EXPECT_FALSE(result.valid);
  EXPECT_EQ(result.invalid_reasons.back(), "left port: its link was down at the end");
}

TEST(Trial, LossIsNotInvalid) {
  FakeDevice device(1);
  auto& queue = device.tx_queue(spec::Side::kLeft, 0);
  queue.gateways_fault = true;
  unsigned calls = 0;
  queue.accept = [&calls](unsigned n) { return ++calls > 50 && calls < 100 ? 0 : n; };
  const auto result = Runner(device).run(both_ways(), kQuiet, kGoOn);
  EXPECT_TRUE(result.valid);
  const auto& kinds = result.streams[0].kinds;
  EXPECT_GT(result.streams[0].refused_by_gateway, 0U);
  EXPECT_EQ(kinds[0]->lost + kinds[1]->lost, result.streams[0].refused_by_gateway);
}

}  // namespace
}  // namespace natxy::run
