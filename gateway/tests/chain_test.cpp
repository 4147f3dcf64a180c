// Tests that each fault does exactly what is configured, and that the record shows it.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "gateway/tests/bench_gateway.hpp"

namespace natxy::gateway::test {
namespace {

constexpr Nanoseconds kMicrosecond = 1000;

std::vector<unsigned> numbers(unsigned first, unsigned last) {
  std::vector<unsigned> all(last - first + 1);
  std::iota(all.begin(), all.end(), first);
  return all;
}

TEST(Faults, WithoutAnyAllFramesPassAtOnce) {
  BenchGateway bench(config_with(""));
  bench.receive_row(50, kMicrosecond);
  EXPECT_EQ(bench.order(), numbers(1, 50));
  EXPECT_EQ(bench.forward().received, 50U);
  EXPECT_EQ(bench.forward().forwarded, 50U);
  EXPECT_EQ(bench.forward().delay_ns.max(), 0U);
}

TEST(Faults, LossDropsEveryKth) {
  for (const unsigned every : {1U, 7U, 100U, 101U}) {
    BenchGateway bench(config_with(R"({"kind": "loss", "every": )" + std::to_string(every) + "}"));
    bench.receive_row(100, kMicrosecond);
    EXPECT_EQ(dropped(bench, Drop::kLoss), 100 / every);
    EXPECT_EQ(bench.departures().size(), 100 - 100 / every);
    for (const auto number : bench.order()) EXPECT_NE(number % every, 0U);
  }
}

TEST(Faults, LossByChanceDropsItsShareAndFollowsFromTheSeed) {
  const auto passed = [](const std::string& seed) {
    BenchGateway bench(
        config_with(R"({"kind": "loss", "share_ppm": 100000, "seed": )" + seed + "}"));
    bench.receive_row(250, kMicrosecond);
    return bench.order();
  };
  EXPECT_EQ(passed("1"), passed("1"));
  EXPECT_NE(passed("1"), passed("2"));
  BenchGateway bench(config_with(R"({"kind": "loss", "share_ppm": 100000})"));
  for (unsigned i = 0; i < 40'000; ++i) bench.receive(Side::kLeft, make_udp({}), i);
  EXPECT_NEAR(static_cast<double>(dropped(bench, Drop::kLoss)), 4000, 240);  // 4 deviations
  EXPECT_EQ(bench.departures().size() + dropped(bench, Drop::kLoss), 40'000U);
  BenchGateway all(config_with(R"({"kind": "loss", "share_ppm": 1000000})"));
  all.receive_row(100, kMicrosecond);
  EXPECT_EQ(dropped(all, Drop::kLoss), 100U);
}

TEST(Faults, DirectionsCountForThemselves) {
  BenchGateway bench(config_with(R"({"kind": "loss", "every": 2})"));
  bench.receive(Side::kLeft, make_udp({}), 1);
  bench.receive(Side::kRight,
                make_udp({.source = "198.19.0.2", .destination = "198.18.0.2", .to = kRightMac}),
                2);
  EXPECT_EQ(bench.departures().size(), 2U);
  EXPECT_EQ(bench.departures()[1].side, Side::kLeft);
}

TEST(Faults, AFaultOfOneDirectionLeavesTheOtherAlone) {
  BenchGateway bench(config_with(R"({"kind": "loss", "direction": "reverse", "every": 1})"));
  bench.receive_row(3, kMicrosecond);
  bench.receive(Side::kRight,
                make_udp({.source = "198.19.0.2", .destination = "198.18.0.2", .to = kRightMac}),
                kMillisecond);
  EXPECT_EQ(bench.departures().size(), 3U);
  EXPECT_EQ(bench.record().of(Direction::kReverse).dropped[index_of(Drop::kLoss)], 1U);
}

TEST(Faults, DuplicateFollowsItsFrame) {
  BenchGateway bench(config_with(R"({"kind": "duplicate", "every": 3})"));
  bench.receive_row(7, kMicrosecond);
  EXPECT_EQ(bench.order(), (std::vector<unsigned>{1, 2, 3, 3, 4, 5, 6, 6, 7}));
  EXPECT_EQ(bench.forward().duplicated, 2U);
  EXPECT_EQ(bench.forward().forwarded, 9U);
  EXPECT_EQ(bench.departures()[2].frame.frame, bench.departures()[3].frame.frame);
}

TEST(Faults, ReorderLetsFramesPassBefore) {
  BenchGateway bench(config_with(R"({"kind": "reorder", "every": 5, "by": 2})"));
  bench.receive_row(11, kMicrosecond);
  EXPECT_EQ(bench.order(), (std::vector<unsigned>{1, 2, 3, 4, 6, 7, 5, 8, 9, 11}));
  EXPECT_EQ(bench.forward().reordered, 1U);  // frame 10 still waits: one has passed it
  bench.poll(30 * kMillisecond);
  EXPECT_EQ(bench.order().back(), 10U);
  EXPECT_EQ(bench.forward().reordered, 2U);
}

TEST(Faults, ReorderLetsTheLastFrameGoUnreordered) {
  BenchGateway bench(
      config_with(R"({"kind": "reorder", "every": 2, "by": 1, "within_ns": 1000000})"));
  bench.receive_row(2, kMicrosecond);
  bench.poll(2 * kMicrosecond + kMillisecond - 1);
  EXPECT_EQ(bench.departures().size(), 1U);
  bench.poll(2 * kMicrosecond + kMillisecond);
  EXPECT_EQ(bench.order(), numbers(1, 2));
  EXPECT_EQ(bench.forward().reordered, 0U);
}

TEST(Faults, AnOldAlarmDoesNotReleaseALaterFrame) {
  BenchGateway bench(
      config_with(R"({"kind": "reorder", "every": 2, "by": 1, "within_ns": 10000})"));
  bench.receive_row(4, 4 * kMicrosecond);  // 2 held at 8, passed at 12; 4 held at 16, alarm at 26
  bench.poll(18 * kMicrosecond);           // the alarm of frame 2
  EXPECT_EQ(bench.order(), (std::vector<unsigned>{1, 3, 2}));
  bench.poll(26 * kMicrosecond);
  EXPECT_EQ(bench.order(), (std::vector<unsigned>{1, 3, 2, 4}));
}

TEST(Faults, DelayIsExactWhenPolledInTime) {
  BenchGateway bench(config_with(R"({"kind": "delay", "ns": 5000})"));
  bench.receive_row(3, kMicrosecond);
  bench.poll_until(10 * kMicrosecond, 1);
  ASSERT_EQ(bench.order(), numbers(1, 3));
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(bench.departures()[i].at_ns, (i + 6) * kMicrosecond);
  EXPECT_EQ(bench.forward().delay_ns.min(), 5000U);
  EXPECT_EQ(bench.forward().delay_ns.max(), 5000U);
}

TEST(Faults, TheRecordHasTheDelayThatWasReallyGiven) {
  BenchGateway bench(config_with(R"({"kind": "delay", "ns": 5000})"));
  bench.receive_row(1, kMicrosecond);
  bench.poll(20 * kMicrosecond);
  EXPECT_EQ(bench.forward().delay_ns.max(), 19'000U);
}

TEST(Faults, DelayPatternReordersByTime) {
  BenchGateway bench(config_with(R"({"kind": "delay", "pattern_ns": [10000, 2000, 500]})"));
  bench.receive_row(3, kMicrosecond);
  bench.poll_until(20 * kMicrosecond, 100);
  EXPECT_EQ(bench.order(), (std::vector<unsigned>{3, 2, 1}));
  EXPECT_EQ(bench.departures()[0].at_ns, 3500U);
  EXPECT_EQ(bench.departures()[1].at_ns, 4000U);
  EXPECT_EQ(bench.departures()[2].at_ns, 11'000U);
}

TEST(Faults, EqualTimesKeepOrder) {
  BenchGateway bench(config_with(R"({"kind": "delay", "pattern_ns": [3000, 2000, 1000]})"));
  bench.receive_row(6, kMicrosecond);
  bench.poll(100 * kMicrosecond);
  EXPECT_EQ(bench.order(), numbers(1, 6));
}

TEST(Faults, UniformDelaysStayInRangeAndFollowFromTheSeed) {
  const auto delays = [](const std::string& seed) {
    BenchGateway bench(
        config_with(R"({"kind": "delay", "uniform_ns": [1000, 9000], "seed": )" + seed + "}"));
    bench.receive_row(200, 10 * kMicrosecond);
    bench.poll(10 * kMillisecond);
    EXPECT_EQ(bench.departures().size(), 200U);
    return bench.order();
  };
  DelaySeries series({.pattern_ns = {}, .uniform_ns = {{1000, 9000}}, .seed = 1});
  Nanoseconds sum_ns = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto delay_ns = series.next_ns();
    ASSERT_GE(delay_ns, 1000U);
    ASSERT_LE(delay_ns, 9000U);
    sum_ns += delay_ns;
  }
  EXPECT_NEAR(static_cast<double>(sum_ns) / 10'000, 5000, 100);  // 4 standard deviations: 92
  EXPECT_EQ(delays("1"), delays("1"));
  DelaySeries other({.pattern_ns = {}, .uniform_ns = {{1000, 9000}}, .seed = 2});
  DelaySeries again({.pattern_ns = {}, .uniform_ns = {{1000, 9000}}, .seed = 1});
  EXPECT_NE(other.next_ns(), again.next_ns());
}

TEST(Faults, RateLimitPassesRateAndDepth) {
  BenchGateway bench(config_with(R"({"kind": "rate_limit", "rate_fps": 1000, "depth": 5})"));
  for (unsigned i = 0; i < 20'000; ++i) {  // 20,000 frames a second for a second
    bench.receive(Side::kLeft, make_udp({}), kMillisecond + i * 50 * kMicrosecond);
  }
  const auto passed = bench.departures().size();
  EXPECT_EQ(passed, 5U + 999U);  // the last frame comes 50 us before the 1000th token
  EXPECT_EQ(dropped(bench, Drop::kRateLimit), 20'000 - passed);
}

TEST(Faults, RateLimitBelowItsRateDropsNothing) {
  BenchGateway bench(config_with(R"({"kind": "rate_limit", "rate_fps": 1000, "depth": 1})"));
  bench.receive_row(200, kMillisecond);
  EXPECT_EQ(bench.departures().size(), 200U);
}

// A policer: an absence of the gateway fills the bucket, but never beyond its depth.
TEST(Faults, RateLimitPassesItsDepthAfterAnAbsence) {
  BenchGateway bench(config_with(R"({"kind": "rate_limit", "rate_fps": 1000, "depth": 8})"));
  const auto burst = [&bench](Nanoseconds at_ns) {
    const auto before = bench.departures().size();
    for (unsigned i = 0; i < 20; ++i) bench.receive(Side::kLeft, make_udp({}), at_ns);
    return bench.departures().size() - before;
  };
  EXPECT_EQ(burst(10 * kMillisecond), 8U);
  EXPECT_EQ(burst(15 * kMillisecond), 5U);
  EXPECT_EQ(burst(115 * kMillisecond), 8U);
  EXPECT_EQ(dropped(bench, Drop::kRateLimit), 60U - 21U);
}

TEST(Faults, AQueueOfFourAtTwiceItsRateDropsExactlyTheRest) {
  BenchGateway bench(config_with(R"({"kind": "buffer", "frames": 4, "drain_fps": 1000})"));
  for (unsigned i = 0; i < 2000; ++i) {
    bench.receive(Side::kLeft, make_udp({}), kMillisecond + i * kMillisecond / 2);
  }
  EXPECT_EQ(dropped(bench, Drop::kBuffer), 2000U - (4U + 999U));
  bench.poll(2000 * kMillisecond);
  EXPECT_EQ(bench.departures().size(), 4U + 999U);
}

TEST(Faults, AShaperPassesItsDepthAtOnceAndTheRestAtItsRate) {
  BenchGateway bench(
      config_with(R"({"kind": "buffer", "frames": 10, "drain_fps": 1000, "depth": 5})"));
  for (unsigned i = 1; i <= 25; ++i) {
    bench.receive(Side::kLeft, make_udp({.first_octet = static_cast<std::uint8_t>(i)}),
                  kMillisecond);
  }
  bench.poll(kMillisecond);
  EXPECT_EQ(bench.order(), numbers(1, 5));
  EXPECT_EQ(dropped(bench, Drop::kBuffer), 10U);
  bench.poll_until(30 * kMillisecond, 10 * kMicrosecond);
  EXPECT_EQ(bench.order(), numbers(1, 15));
  for (unsigned i = 5; i < 15; ++i) {
    EXPECT_EQ(bench.departures()[i].at_ns, (i - 3) * kMillisecond);
  }
}

TEST(Faults, BufferTakesABurstAndDrainsAtItsRate) {
  BenchGateway bench(config_with(R"({"kind": "buffer", "frames": 10, "drain_fps": 1000})"));
  for (unsigned i = 1; i <= 25; ++i) {
    bench.receive(Side::kLeft, make_udp({.first_octet = static_cast<std::uint8_t>(i)}),
                  kMillisecond);
  }
  EXPECT_EQ(dropped(bench, Drop::kBuffer), 15U);
  bench.poll_until(30 * kMillisecond, 10 * kMicrosecond);
  EXPECT_EQ(bench.order(), numbers(1, 10));
  for (unsigned i = 0; i < 10; ++i) {
    EXPECT_EQ(bench.departures()[i].at_ns, (i + 2) * kMillisecond);
  }
}

TEST(Faults, BufferHasRoomAgainWhenAFrameHasLeft) {
  BenchGateway bench(config_with(R"({"kind": "buffer", "frames": 1, "drain_fps": 1000})"));
  bench.receive(Side::kLeft, make_udp({}), kMillisecond);
  bench.receive(Side::kLeft, make_udp({}), 2 * kMillisecond - 1);
  EXPECT_EQ(dropped(bench, Drop::kBuffer), 1U);
  bench.receive(Side::kLeft, make_udp({}), 2 * kMillisecond);
  EXPECT_EQ(dropped(bench, Drop::kBuffer), 1U);
}

TEST(Faults, AreAppliedInTheirOrder) {
  const std::string loss = R"({"kind": "loss", "every": 2})";
  const std::string duplicate = R"({"kind": "duplicate", "every": 1})";
  BenchGateway loses_first(config_with(loss + "," + duplicate));
  loses_first.receive_row(4, kMicrosecond);
  EXPECT_EQ(loses_first.order(), (std::vector<unsigned>{1, 1, 3, 3}));
  BenchGateway loses_last(config_with(duplicate + "," + loss));
  loses_last.receive_row(4, kMicrosecond);
  EXPECT_EQ(loses_last.order(), (std::vector<unsigned>{1, 2, 3, 4}));
}

// A limit after a delay sees the frames when they leave the delay, not when they arrived.
TEST(Faults, ALaterFaultSeesTheTimeOfTheEarlierOne) {
  BenchGateway bench(config_with(R"({"kind": "delay", "pattern_ns": [9000, 0]},
                                    {"kind": "rate_limit", "rate_fps": 1000000, "depth": 1})"));
  bench.receive(Side::kLeft, make_udp({.first_octet = 1}), kMicrosecond);
  bench.receive(Side::kLeft, make_udp({.first_octet = 2}), kMicrosecond);
  bench.poll(50 * kMicrosecond);
  EXPECT_EQ(bench.order(), (std::vector<unsigned>{2, 1}));
}

TEST(Faults, ClearStartsThemAnew) {
  BenchGateway bench(config_with(R"({"kind": "loss", "every": 3}, {"kind": "delay", "ns": 1000})"));
  bench.receive_row(2, 1);
  bench.gateway().clear(10);
  bench.poll(kMillisecond);
  EXPECT_TRUE(bench.departures().empty());
  for (unsigned i = 1; i <= 3; ++i) {
    bench.receive(Side::kLeft, make_udp({.first_octet = static_cast<std::uint8_t>(i)}),
                  kMillisecond);
  }
  bench.poll(2 * kMillisecond);
  EXPECT_EQ(bench.order(), numbers(1, 2));
  EXPECT_EQ(bench.forward().received, 3U);
}

}  // namespace
}  // namespace natxy::gateway::test
