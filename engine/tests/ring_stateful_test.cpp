// Tests stateful trials through the calibration gateway as a NAT (RFC 9693): the results of phase
// 1, of validation and of phase 2, and each fault of a NAT, compared with the gateway's record.
#include <gtest/gtest.h>

#include <utility>

#include "lockstep_testbed.hpp"
#include "nat_trials.hpp"
#include "ring_counts.hpp"

namespace natxy::tests {
namespace {

using spec::Direction;
using spec::Order;
using spec::Role;

// --- a gateway without fault ---------------------------------------------------------------------

class Nats : public testing::TestWithParam<int> {};

TEST_P(Nats, EveryConnectionIsLearnedAnswersAndIsUsed) {
  const auto of = nat_net(GetParam());
  LockstepTestbed testbed(config_of(of));
  const auto seen = testbed.run(trial_in(of));
  EXPECT_EQ(wrongs(seen.result), Counts{});
  EXPECT_FALSE(seen.result.incomplete);
  ASSERT_TRUE(seen.result.connections);
  EXPECT_EQ(seen.result.connections->asked, kFrames);
  EXPECT_EQ(seen.result.connections->stored, kFrames);
  EXPECT_EQ(seen.result.connections->bytes, 8 * kFrames);
  EXPECT_EQ(connections_of(seen.result, "establish", of.outward).stored, kFrames);
  EXPECT_EQ(connections_of(seen.result, "validate", inward(of)).known, kFrames);
  EXPECT_EQ(sent(stream_of(seen.result, "again", inward(of))), 0U);
  EXPECT_EQ(connections_of(seen.result, "test", of.outward).known, kFrames);
  EXPECT_EQ(connections_of(seen.result, "test", inward(of)).known, kFrames);
  for (const auto& stream : seen.result.streams) {
    EXPECT_EQ(stream.connections->changed + stream.connections->wrong, 0U);
  }
  if (of.nat.empty()) return;
  EXPECT_EQ(seen.record.nat->created, kFrames) << "nothing but phase 1 makes connections";
}

INSTANTIATE_TEST_SUITE_P(Some, Nats, testing::Range(0, 4));

class Orders : public testing::TestWithParam<std::pair<Order, Order>> {};

TEST_P(Orders, OnlyConnectionsThatExistAreUsed) {
  const auto [respond, initiate] = GetParam();
  const auto of = nat44();
  LockstepTestbed testbed(config_of(of, R"({"kind": "loss", "direction": "forward", "every": 7})"));
  auto spec = trial_in(of, respond, initiate);
  const auto seen = testbed.run(spec);
  const auto there = kFrames - kFrames / 7;
  EXPECT_EQ(seen.result.connections->stored, there);
  EXPECT_EQ(seen.record.nat->created, kFrames) << "the gateway lost them on their way out";
  EXPECT_EQ(seen.record.of(gateway::Direction::kReverse)
                .dropped[gateway::index_of(gateway::Drop::kNatUnknown)],
            0U);
  EXPECT_EQ(stream_of(seen.result, "validate", Direction::kReverse).due, there);
  EXPECT_EQ(connections_of(seen.result, "validate", Direction::kReverse).known, there);
  EXPECT_EQ(connections_of(seen.result, "test", Direction::kForward).stored, 0U);
  const auto& back = stream_of(seen.result, "test", Direction::kReverse);
  EXPECT_EQ(back.kinds[0]->received, respond == Order::kLinear ? there : kFrames);
}

INSTANTIATE_TEST_SUITE_P(Some, Orders,
                         testing::Values(std::pair{Order::kFixed, Order::kFixed},
                                         std::pair{Order::kIncreasing, Order::kDecreasing},
                                         std::pair{Order::kDecreasing, Order::kIncreasing},
                                         std::pair{Order::kPseudorandom, Order::kPseudorandom},
                                         std::pair{Order::kLinear, Order::kPseudorandom}));

class StatefulWorkers : public testing::TestWithParam<unsigned> {};

TEST_P(StatefulWorkers, AnyNumberCarriesItOut) {
  const auto of = nat44();
  LockstepTestbed testbed(config_of(of), {.workers = GetParam(), .tx_queues = 2});
  const auto seen = testbed.run(trial_in(of));
  EXPECT_EQ(wrongs(seen.result), Counts{});
  EXPECT_EQ(seen.result.connections->stored, kFrames);
}

INSTANTIATE_TEST_SUITE_P(Some, StatefulWorkers, testing::Values(2, 5));

// Workers, and receive queues of each port.
class StatefulQueues : public testing::TestWithParam<std::pair<unsigned, unsigned>> {};

TEST_P(StatefulQueues, FillOneTable) {
  const auto [workers, queues] = GetParam();
  for (const auto& of : {nat44(), nat64()}) {
    LockstepTestbed testbed(config_of(of),
                            {.workers = workers, .tx_queues = 2, .rx_queues = queues});
    const auto seen = testbed.run(trial_in(of));
    EXPECT_EQ(wrongs(seen.result), Counts{});
    EXPECT_EQ(seen.result.connections->stored, kFrames);
  }
}

INSTANTIATE_TEST_SUITE_P(Some, StatefulQueues,
                         testing::Values(std::pair{1U, 2U}, std::pair{2U, 4U}, std::pair{5U, 2U}));

TEST(RingStateful, LatencyIsThatOfWhatUsesConnections) {
  const auto of = nat44();
  LockstepTestbed testbed(config_of(of));
  auto spec = trial_in(of);
  auto& made = spec.phases[0].streams[0].segments[0];
  made.frames /= 10;
  spec.recording.tags = spec::Tags{.after_ns = (made.frames + 1) * 1'000'000'000 / made.rate_fps,
                                   .count = 10};  // after the last frame of phase 1
  spec.phases.erase(spec.phases.begin() + 1, spec.phases.begin() + 3);
  const auto seen = testbed.run(spec);
  EXPECT_EQ(wrongs(seen.result), Counts{});
  EXPECT_FALSE(stream_of(seen.result, "establish", Direction::kForward).tags);
  EXPECT_EQ(stream_of(seen.result, "test", Direction::kReverse).tags->received, 10U);
}

TEST_P(Nats, ConnectionsAreCreatedWhileOthersAreUsed) {
  const auto of = nat_net(GetParam());
  LockstepTestbed testbed(config_of(of));
  const auto seen = testbed.run(churning_trial_in(of));
  EXPECT_EQ(wrongs(seen.result), Counts{});
  constexpr auto kNew = kFrames / 4;
  EXPECT_EQ(seen.result.connections->asked, kFrames / 2 + kNew);
  EXPECT_EQ(seen.result.connections->stored, kFrames / 2 + kNew);
  const auto& outward = stream_of(seen.result, "test", of.outward);
  EXPECT_EQ(outward.kinds[0]->received, kFrames - kNew);
  EXPECT_EQ(outward.kinds[1]->received, kNew);
  EXPECT_EQ(outward.connections->stored, kNew);
  EXPECT_EQ(outward.connections->known, kFrames - kNew) << "those of phase 1 alone are used";
  EXPECT_EQ(connections_of(seen.result, "test", inward(of)).known, kFrames);
  if (of.nat.empty()) return;
  EXPECT_EQ(seen.record.nat->created, kFrames / 2 + kNew);
}

TEST(RingStateful, BackgroundGoesBesideAndCountsAmongTheFrames) {
  const auto of = nat44();
  auto spec = trial_in(of);
  for (auto& phase : spec.phases) {
    for (auto& stream : phase.streams) {
      stream.mix = {.n = 10, .m = 9};
      stream.background = traffic_in(of.net, stream.direction);
      for (auto* pair : {&stream.background->departure, &stream.background->arrival}) {
        *pair = traffic_in(route66(), stream.direction).departure;
      }
    }
  }
  auto routes = of;
  routes.net.routes += ", " + route66().routes;
  LockstepTestbed testbed(config_of(routes));
  const auto seen = testbed.run(spec);
  EXPECT_EQ(wrongs(seen.result), Counts{});
  EXPECT_EQ(seen.result.connections->stored, kFrames / 10 * 9);
}

TEST(RingStateful, AddressesAreEnumeratedTogetherWithPorts) {
  const auto of = nat64();
  auto spec = trial_in(of);
  for (auto& phase : spec.phases) {
    for (auto& stream : phase.streams) {
      auto& traffic = *stream.foreground;
      traffic = traffic_in(of.net, stream.direction, Varying::kFields);
      const bool outward = stream.direction == of.outward;
      const spec::Series hosts{spec::SeriesMode::kIncreasing, 2, 51};
      const spec::Series servers{spec::SeriesMode::kIncreasing, 2, 3};
      const spec::Series fixed{spec::SeriesMode::kFixed, 53, 53};
      traffic.source_field = outward ? hosts : servers;
      traffic.destination_field = outward ? servers : hosts;
      traffic.source_port = outward ? kDestinationPorts : fixed;
      traffic.destination_port = outward ? fixed : kDestinationPorts;
      traffic.selection = spec::Selection::kEnumerateDecreasing;
    }
  }
  const std::array establish{Role::kEstablish, Role::kRespond, Role::kRespond};
  const std::array orders{Order::kLinear, Order::kLinear, Order::kMissing};
  for (std::size_t i = 0; i < 3; ++i) {
    spec.phases[i].streams[0].foreground->connections =
        spec::Connections{.role = establish[i], .order = orders[i]};
  }
  spec.phases[3].streams[0].foreground->connections =
      spec::Connections{.role = Role::kInitiate, .order = Order::kIncreasing};
  spec.phases[3].streams[1].foreground->connections =
      spec::Connections{.role = Role::kRespond, .order = Order::kIncreasing};
  LockstepTestbed testbed(config_of(of));
  const auto seen = testbed.run(spec);
  EXPECT_EQ(wrongs(seen.result), Counts{});
  EXPECT_EQ(seen.result.connections->stored, kFrames);
}

// --- what can be wrong ---------------------------------------------------------------------------

TEST(RingStateful, MappingThatChangedIsCountedOnce) {
  const auto of = nat44();
  LockstepTestbed testbed(
      config_of(of, R"({"kind": "nat-change", "connection": 7, "after_ns": 1})"));
  auto spec = trial_in(of);
  spec.phases.erase(spec.phases.begin() + 1, spec.phases.begin() + 3);
  spec.phases[1].streams.resize(1);
  spec.phases[1].name = "test";
  const auto seen = testbed.run(spec);
  EXPECT_EQ(seen.record.nat->changed, 1U);
  EXPECT_EQ(connections_of(seen.result, "test", Direction::kForward).changed, 1U);
  EXPECT_EQ(connections_of(seen.result, "test", Direction::kForward).known, kFrames - 1);
}

TEST(RingStateful, MappingThatIsGoneIsLostAndAsksInVain) {
  const auto of = nat44();
  LockstepTestbed testbed(
      config_of(of, R"({"kind": "nat-forget", "connection": 7, "after_ns": 1})"));
  auto spec = trial_in(of);
  spec.phases.resize(3);
  const auto seen = testbed.run(spec);
  EXPECT_EQ(seen.record.nat->forgotten, 1U);
  EXPECT_EQ(stream_of(seen.result, "validate", Direction::kReverse).kinds[0]->lost, 1U);
  EXPECT_EQ(stream_of(seen.result, "again", Direction::kReverse).due, 1U);
  EXPECT_EQ(stream_of(seen.result, "again", Direction::kReverse).kinds[0]->lost, 1U);
}

TEST(RingStateful, ConnectionsThatOnlyWereTooFastAnswerWhenAskedAgain) {
  const auto of = nat44();
  LockstepTestbed testbed(
      config_of(of, R"({"kind": "loss", "direction": "reverse", "every": 10})"));
  auto spec = trial_in(of);
  spec.phases.resize(3);
  const auto seen = testbed.run(spec);
  EXPECT_EQ(stream_of(seen.result, "validate", Direction::kReverse).kinds[0]->lost, kFrames / 10);
  EXPECT_EQ(stream_of(seen.result, "again", Direction::kReverse).due, kFrames / 10);
  EXPECT_EQ(connections_of(seen.result, "again", Direction::kReverse).known,
            kFrames / 10 - kFrames / 100);
}

TEST(RingStateful, ConnectionsThatPhase1LostAreMadeAgain) {
  const auto of = nat44();
  LockstepTestbed testbed(  // loses two in phase 1, none of those that are created again
      config_of(of, R"({"kind": "loss", "direction": "forward", "every": 1100})"));
  const auto seen = testbed.run(repaired_trial_in(of));
  EXPECT_FALSE(seen.result.incomplete);
  EXPECT_EQ(stream_of(seen.result, "establish", Direction::kForward).kinds[0]->lost, 2U);
  EXPECT_EQ(stream_of(seen.result, "make again", Direction::kForward).due, 2U);
  EXPECT_EQ(connections_of(seen.result, "make again", Direction::kForward).stored, 2U);
  EXPECT_EQ(seen.result.connections->stored, kFrames);
  EXPECT_EQ(connections_of(seen.result, "validate", Direction::kReverse).known, kFrames);
  EXPECT_EQ(stream_of(seen.result, "again", Direction::kReverse).due, 0U);
}

TEST(RingStateful, NothingIsMadeAgainWhereNothingIsMissing) {
  const auto of = nat44();
  LockstepTestbed testbed(config_of(of));
  const auto seen = testbed.run(repaired_trial_in(of));
  EXPECT_EQ(wrongs(seen.result), Counts{});
  EXPECT_EQ(stream_of(seen.result, "make again", Direction::kForward).due, 0U);
  EXPECT_EQ(connections_of(seen.result, "validate", Direction::kReverse).known, kFrames);
}

TEST(RingStateful, WhatAFullTableRefusedIsRefusedAgain) {
  const auto of = nat44(R"(, "entries": 2999)");
  LockstepTestbed testbed(config_of(of));
  auto spec = repaired_trial_in(of);
  spec.phases[0].minimum_connections = kFrames / 10 * 9;
  const auto seen = testbed.run(spec);
  EXPECT_TRUE(seen.result.incomplete);
  EXPECT_EQ(seen.result.connections->stored, 2999U);
  EXPECT_EQ(stream_of(seen.result, "make again", Direction::kForward).kinds[0]->lost, 1U);
  EXPECT_EQ(seen.result.streams.size(), 2U);
}

TEST(RingStateful, WhereTooFewAnswerNoneIsAskedAgain) {
  const auto of = nat44();
  LockstepTestbed testbed(
      config_of(of, R"({"kind": "loss", "direction": "reverse", "every": 10})"));
  auto spec = repaired_trial_in(of);
  spec.phases[2].minimum_connections = kFrames / 10 * 9;
  EXPECT_FALSE(testbed.run(spec).result.incomplete);
  ++spec.phases[2].minimum_connections;
  ++spec.nonce;
  const auto seen = testbed.run(spec);
  EXPECT_TRUE(seen.result.incomplete);
  EXPECT_EQ(seen.result.connections->stored, kFrames);
  EXPECT_EQ(seen.result.streams.size(), 3U);
}

TEST(RingStateful, TwoConnectionsAtOneExternalFourTupleAreTold) {
  const auto of = nat44();
  LockstepTestbed testbed(config_of(of, R"({"kind": "nat-collide", "every": 10})"));
  auto spec = trial_in(of);
  spec.phases.resize(2);
  const auto seen = testbed.run(spec);
  const auto& told = connections_of(seen.result, "validate", Direction::kReverse);
  EXPECT_GT(seen.record.nat->collided, 0U);
  EXPECT_EQ(told.wrong, seen.record.nat->collided);
  EXPECT_EQ(told.collided, seen.record.nat->collided);
  EXPECT_EQ(told.known, kFrames - seen.record.nat->collided);
}

TEST(RingStateful, TableThatIsTooSmallMakesTheTrialIncomplete) {
  const auto of = nat44(R"(, "entries": 2000)");
  LockstepTestbed testbed(config_of(of));
  auto spec = trial_in(of);
  spec.phases[0].minimum_connections = kFrames;
  const auto seen = testbed.run(spec);
  EXPECT_TRUE(seen.result.incomplete);
  EXPECT_EQ(seen.result.connections->stored, 2000U);
  EXPECT_EQ(seen.result.streams.size(), 1U);
}

// With as many draws as combinations, 1 - 1/e of them are found, and 1/e of the last draws are new
// (MP Table 23).
TEST(RingStateful, RepeatedCombinationsAreTheSameConnection) {
  const auto of = nat44();
  LockstepTestbed testbed(config_of(of));
  auto spec = trial_of({connected(of, Role::kEstablish, Order::kRepeating)});
  const auto seen = testbed.run(spec);
  const auto& told = connections_of(seen.result, "test", Direction::kForward);
  EXPECT_EQ(told.stored, seen.record.nat->created);
  EXPECT_EQ(told.stored + told.known, kFrames);
  EXPECT_NEAR(static_cast<double>(told.stored), 0.632 * kFrames, 0.03 * kFrames);
  EXPECT_EQ(seen.result.connections->asked, kFrames);
}

TEST(RingStateful, MoreMemoryThanThereIsIsRefusedInASentence) {
  const auto of = nat44();
  LockstepTestbed testbed(config_of(of));
  auto spec = trial_of({connected(of, Role::kEstablish, Order::kRepeating)});
  auto& traffic = *spec.phases[0].streams[0].foreground;
  traffic.source_port = traffic.destination_port = {spec::SeriesMode::kIncreasing, 0, 65535};
  try {
    (void)testbed.run_once(spec);
    SUCCEED() << "this machine has 32 GiB to spare";
  } catch (const spec::TrialError& error) {
    EXPECT_EQ(error.kind(), spec::ErrorKind::kSpec);
    EXPECT_NE(std::string(error.what()).find("4294967296 connections takes 34359738368 bytes"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace natxy::tests
