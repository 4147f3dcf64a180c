// Tests a gateway without faults: with any traffic, each frame is received once and is correct.
#include <gtest/gtest.h>

#include "lockstep_testbed.hpp"
#include "ring_counts.hpp"
#include "ring_trials.hpp"

namespace natxy::tests {
namespace {

using spec::Direction;

std::uint64_t received(const spec::StreamResult& stream) {
  std::uint64_t total = 0;
  for (const auto& kind : stream.kinds) total += kind ? kind->received : 0;
  return total;
}

void expect_all_right(const Observed& seen) {
  EXPECT_EQ(wrongs(seen.result), Counts{});
  for (const auto& stream : seen.result.streams) {
    EXPECT_EQ(sent(stream), stream.due);
    EXPECT_EQ(received(stream), stream.due);
    EXPECT_EQ(stream.lateness.count, stream.due);
    EXPECT_GT(stream.send_call.count, 0U);
    for (const auto& kind : stream.kinds) {
      if (!kind || kind->sent == 0) continue;
      EXPECT_EQ(kind->hop_limit, 63);
      EXPECT_EQ(kind->delay.count, kind->received);
    }
  }
}

using NetAndVarying = std::tuple<Net, Varying>;
class Nets : public testing::TestWithParam<NetAndVarying> {};

TEST_P(Nets, BothWays) {
  const auto& [net, varying] = GetParam();
  LockstepTestbed testbed(gateway_config(net));
  const auto seen = testbed.run(both_ways_trial(net, varying));
  expect_all_right(seen);
  for (const auto direction : gateway::kDirections) {
    EXPECT_EQ(seen.record.of(direction).forwarded, kFrames);
  }
}

std::string name_of(const testing::TestParamInfo<NetAndVarying>& info) {
  static constexpr const char* kWords[] = {"fixed", "networks", "fields"};
  const auto& [net, varying] = info.param;
  return net.name + "_" + kWords[static_cast<std::size_t>(varying)];
}

INSTANTIATE_TEST_SUITE_P(Each, Nets,
                         testing::Combine(testing::ValuesIn(all_nets()),
                                          testing::Values(Varying::kNothing, Varying::kNetworks,
                                                          Varying::kFields)),
                         name_of);

class Sizes : public testing::TestWithParam<std::uint16_t> {};

// The fault `length` shrinks the largest frames, because longer ones would not fit.
TEST_P(Sizes, AllArriveAndALengthThatChangesIsSeen) {
  const auto net = translate64();
  LockstepTestbed testbed(gateway_config(net));
  auto spec = both_ways_trial(net);
  for (auto& stream : spec.phases[0].streams) {
    stream.foreground = sized(*stream.foreground, GetParam());
  }
  expect_all_right(testbed.run(spec));
  testbed.configure(gateway_config(net, R"({"kind": "corrupt", "every": 100, "field": "length"})"));
  ++spec.nonce;
  EXPECT_EQ(wrongs(testbed.run(spec).result), (Counts{{"test forward foreground length", 30},
                                                      {"test forward foreground lost", 30},
                                                      {"test reverse foreground length", 30},
                                                      {"test reverse foreground lost", 30}}));
}

INSTANTIATE_TEST_SUITE_P(Bytes, Sizes, testing::Values(84, 85, 128, 512, 1280, 1518));

using Pair = std::pair<std::uint32_t, std::uint32_t>;

std::string name_of_pair(const testing::TestParamInfo<Pair>& info) {
  return std::to_string(info.param.first) + "_" + std::to_string(info.param.second);
}

// Numbers of workers, and of transmit queues per port.
class Workers : public testing::TestWithParam<Pair> {};

TEST_P(Workers, ShareBothDirectionsAndCountAsOne) {
  const auto [workers, queues] = GetParam();
  const auto net = translate46();
  LockstepTestbed testbed(gateway_config(net, R"({"kind": "loss", "every": 30},
                                             {"kind": "duplicate", "every": 29})"),
                          {.workers = workers, .tx_queues = queues});
  const auto seen = testbed.run(both_ways_trial(net, Varying::kNetworks));
  EXPECT_EQ(wrongs(seen.result), (Counts{{"test forward foreground lost", 100},
                                         {"test forward foreground duplicated", 100},
                                         {"test reverse foreground lost", 100},
                                         {"test reverse foreground duplicated", 100}}));
  EXPECT_EQ(seen.result.workers.size(), workers);
  for (const auto direction : gateway::kDirections) {
    EXPECT_EQ(seen.record.of(direction).received, kFrames);
  }
}

TEST_P(Workers, ShareOneDirection) {
  const auto [workers, queues] = GetParam();
  const auto net = route66();
  LockstepTestbed testbed(gateway_config(net), {.workers = workers, .tx_queues = queues});
  expect_all_right(testbed.run(forward_trial(net)));
}

INSTANTIATE_TEST_SUITE_P(Of, Workers,
                         testing::Values(Pair{1, 1}, Pair{2, 1}, Pair{2, 2}, Pair{4, 1},
                                         Pair{4, 4}),
                         name_of_pair);

// Workers, and receive queues of each port: the counters are those of one queue.
class Queues : public testing::TestWithParam<Pair> {};

TEST_P(Queues, CountTogetherAsOne) {
  const auto [workers, queues] = GetParam();
  for (const auto& net : {translate46(), translate64()}) {
    LockstepTestbed testbed(
        gateway_config(net, R"({"kind": "loss", "every": 30}, {"kind": "loss", "every": 31},
                                               {"kind": "duplicate", "every": 29})"),
        {.workers = workers, .tx_queues = 2, .rx_queues = queues});
    const auto seen = testbed.run(both_ways_trial(net, Varying::kFields));
    LockstepTestbed with_one(
        gateway_config(net, R"({"kind": "loss", "every": 30}, {"kind": "loss", "every": 31},
                                                {"kind": "duplicate", "every": 29})"));
    const auto one = with_one.run(both_ways_trial(net, Varying::kFields));
    EXPECT_EQ(wrongs(seen.result), wrongs(one.result));
    ASSERT_EQ(seen.result.streams.size(), one.result.streams.size());
    for (std::size_t i = 0; i < one.result.streams.size(); ++i) {
      const auto& losses = seen.result.streams[i].losses;
      const auto& right = one.result.streams[i].losses;
      ASSERT_TRUE(losses && right);
      EXPECT_EQ(losses->frames, right->frames);
      EXPECT_EQ(losses->first_number, right->first_number);
      EXPECT_EQ(losses->last_number, right->last_number);
      EXPECT_EQ(losses->gaps, right->gaps);
      EXPECT_EQ(losses->longest_run, right->longest_run);
      EXPECT_EQ(losses->longest_run_from_ns, right->longest_run_from_ns);
      EXPECT_EQ(received(seen.result.streams[i]), received(one.result.streams[i]));
    }
  }
}

TEST_P(Queues, EachGetsAShareOfPseudorandomPorts) {
  const auto [workers, queues] = GetParam();
  LockstepTestbed testbed(gateway_config(route44()),
                          {.workers = workers, .tx_queues = 2, .rx_queues = queues});
  const auto seen = testbed.run(both_ways_trial(route44()));
  expect_all_right(seen);
  for (const auto side : {spec::Side::kLeft, spec::Side::kRight}) {
    const auto& by_queue = seen.result.ports[static_cast<std::size_t>(side)].queue_received;
    ASSERT_EQ(by_queue.size(), queues);
    for (unsigned queue = 0; queue < queues; ++queue) {
      EXPECT_GT(by_queue[queue], kFrames / queues / 2);
      EXPECT_EQ(by_queue[queue], testbed.wiring().distributed(side, queue));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Queues, testing::Values(Pair{1, 2}, Pair{2, 4}, Pair{5, 2}),
                         name_of_pair);

class Mixes : public testing::TestWithParam<Pair> {};  // n, m

// Background traffic (RFC 8219 5.2): translated and routed frames pass the same gateway.
TEST_P(Mixes, EachKindIsCountedForItself) {
  const auto [n, m] = GetParam();
  auto net = translate64();
  net.routes += ", " + route66().routes;
  LockstepTestbed testbed(gateway_config(net));
  auto spec = both_ways_trial(net);
  for (auto& stream : spec.phases[0].streams) {
    stream.mix = {.n = n, .m = m};
    if (m == 0) stream.foreground.reset();
    if (m < n) stream.background = traffic_in(route66(), stream.direction, Varying::kFields);
  }
  const auto seen = testbed.run(spec);
  expect_all_right(seen);
  std::array<std::uint64_t, 2> expected{};
  for (std::uint64_t i = 0; i < kFrames; ++i) ++expected[i % n < m ? 0 : 1];
  for (const auto& stream : seen.result.streams) {
    for (std::size_t kind = 0; kind < 2; ++kind) {
      EXPECT_EQ(stream.kinds[kind] ? stream.kinds[kind]->received : 0, expected[kind]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfNAndM, Mixes,
                         testing::Values(Pair{2, 1}, Pair{10, 9}, Pair{7, 2}, Pair{4, 0}),
                         name_of_pair);

TEST(RingTraffic, ALossOfTheBackgroundIsTheBackgrounds) {
  auto net = translate64();  // has no route for the background
  LockstepTestbed testbed(gateway_config(net));
  auto spec = forward_trial(net);
  spec.phases[0].streams[0].mix = {.n = 3, .m = 2};
  spec.phases[0].streams[0].background = traffic_in(route66(), Direction::kForward);
  const auto seen = testbed.run(spec);
  EXPECT_EQ(seen.record.of(gateway::Direction::kForward)
                .dropped[gateway::index_of(gateway::Drop::kNoRoute)],
            kFrames / 3);
  EXPECT_EQ(wrongs(seen.result), (Counts{{"test forward background lost", kFrames / 3}}));
}

TEST(RingTraffic, EverySeriesAndSelection) {
  constexpr std::uint64_t kFewer = kFrames / 3;  // there are seven trials
  const auto net = translate64();
  LockstepTestbed testbed(gateway_config(net));
  using enum spec::SeriesMode;
  for (const auto mode : {kFixed, kIncreasing, kDecreasing, kPseudorandom}) {
    auto spec = both_ways_trial(net, Varying::kFields);
    for (auto& stream : spec.phases[0].streams) {
      stream.segments[0].frames = kFewer;
      stream.foreground->source_port.mode = mode;
      stream.foreground->destination_field.mode = mode;
    }
    expect_all_right(testbed.run(spec));
  }
  using enum spec::Selection;
  for (const auto selection :
       {kEnumerateIncreasing, kEnumerateDecreasing, kEnumeratePseudorandom}) {
    auto spec = both_ways_trial(net, Varying::kFields);
    for (auto& stream : spec.phases[0].streams) {
      stream.segments[0].frames = kFewer;
      stream.foreground->selection = selection;
    }
    expect_all_right(testbed.run(spec));
  }
}

TEST(RingTraffic, SegmentsAndPhases) {
  const auto net = route44();
  LockstepTestbed testbed(gateway_config(net));
  auto spec = both_ways_trial(net);
  spec.phases[0].name = "one";
  spec.phases[0].gap_ns = 2 * kMillisecond;
  for (auto& stream : spec.phases[0].streams) {
    stream.segments = {{.frames = 1000, .rate_fps = 50'000, .pause_ns = 30 * kMillisecond},
                       {.frames = 500, .rate_fps = 10'000, .pause_ns = 0}};
  }
  auto second = spec.phases[0];
  second.name = "two";
  second.streams.pop_back();
  spec.phases.push_back(second);
  const auto seen = testbed.run(spec);
  expect_all_right(seen);
  ASSERT_EQ(seen.result.streams.size(), 3U);
  constexpr double kSegmentsNs = 100e6;  // 20 ms, the pause, 50 ms
  for (const auto& stream : seen.result.streams) {
    EXPECT_EQ(stream.due, 1500U);
    EXPECT_GT(stream.sending_ns, 0.9 * kSegmentsNs);
  }
  const auto drained = kSegmentsNs + static_cast<double>(spec.drain_ns + spec.phases[0].gap_ns);
  EXPECT_EQ(seen.result.streams[2].phase, "two");
  EXPECT_GE(seen.result.streams[2].first_departure_ns, drained);
  EXPECT_EQ(seen.record.of(gateway::Direction::kForward).forwarded, 3000U);
  EXPECT_EQ(seen.record.of(gateway::Direction::kReverse).forwarded, 1500U);
}

// No MAC address is given: the engine resolves its next hops, the gateway its neighbours.
TEST(RingTraffic, NeighboursAreFoundAndProbesPass) {
  auto net = translate64();
  net.routes = R"({"prefix": "2001:2::/112", "side": "left"},
                  {"prefix": "198.19.0.0/16", "side": "right"})";
  const auto addresses = R"({"left": {"addresses": ["2001:2::1"]},
                             "right": {"addresses": ["198.19.0.1"]}, "routes": [)";
  LockstepTestbed testbed(addresses + net.routes + R"(], "translation": )" + net.translation + "}");
  auto spec = both_ways_trial(net);
  spec.warm_up.mode = spec::WarmUpMode::kProbes;
  spec.sides[0].next_hop.ipv6 = address("2001:2::1").octets;
  spec.sides[1].next_hop.ipv4 = {198, 19, 0, 1};
  const auto seen = testbed.run(spec);
  expect_all_right(seen);
  for (const auto direction : gateway::kDirections) {
    EXPECT_GT(seen.record.of(direction).received, kFrames) << "probes are frames to the gateway";
  }
}

}  // namespace
}  // namespace natxy::tests
