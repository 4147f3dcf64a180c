// Tests faults that use the tester's departure times: they are exact, whatever the real times.
#include "gateway/faults/fault_time.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gateway/tests/bench_gateway.hpp"

namespace natxy::gateway::test {
namespace {

constexpr std::size_t kData = 14 + 20 + 8;  // Ethernet, IPv4, UDP

// Returns a frame with the tester's number: little-endian, after tag and stream.
Bytes numbered(std::uint64_t number) {
  auto frame = make_udp({});
  for (std::size_t i = 0; i < 5; ++i) {
    frame[kData + 5 + i] = static_cast<std::uint8_t>(number >> (8 * i));
  }
  return frame;
}

TEST(FaultTime, IsExactFromSegmentToSegment) {
  const FaultTime clock({{.frames = 3, .rate_fps = 3}, {.frames = 10, .rate_fps = 1000}});
  EXPECT_EQ(clock.departure_ns(0), 0U);
  EXPECT_EQ(clock.departure_ns(1), 333'333'333U);
  EXPECT_EQ(clock.departure_ns(3), 1'000'000'000U);
  EXPECT_EQ(clock.departure_ns(5), 1'002'000'000U);
  EXPECT_EQ(clock.departure_ns(1003), 2'000'000'000U);  // the last segment continues
  const FaultTime fast({{.frames = 1, .rate_fps = 1ULL << 33U}});
  EXPECT_EQ(fast.departure_ns((1ULL << 40U) - 1), 127'999'999'999U);
}

// The burst that a buffer of F frames before a link of r takes at R: the smallest n with
// n - floor(n r / R) >= F is the first frame that finds no room.
std::uint64_t longest_burst(std::uint64_t frames, std::uint64_t drain_fps, std::uint64_t rate_fps) {
  std::uint64_t n = 0;
  while (n - n * drain_fps / rate_fps < frames) ++n;
  return n;
}

TEST(Departures, ABufferTakesExactlyTheBurstOfItsFormula) {
  for (const auto& [frames, drain_fps, rate_fps] :
       {std::array<std::uint64_t, 3>{100, 5000, 10'000}, {1000, 40'000, 50'000}, {7, 1, 1000}}) {
    BenchGateway bench(config_with(R"({"kind": "buffer", "frames": )" + std::to_string(frames) +
                                   R"(, "drain_fps": )" + std::to_string(drain_fps) +
                                   R"(, "departures": [{"frames": 1, "rate_fps": )" +
                                   std::to_string(rate_fps) + "}]}"));
    const auto burst = longest_burst(frames, drain_fps, rate_fps);
    for (std::uint64_t number = 0; number < burst; ++number) {
      bench.receive(Side::kLeft, numbered(number), kMillisecond);  // all at once by the real time
    }
    EXPECT_EQ(dropped(bench, Drop::kBuffer), 0U);
    bench.receive(Side::kLeft, numbered(burst), 50 * kMillisecond);
    EXPECT_EQ(dropped(bench, Drop::kBuffer), 1U) << frames << " " << drain_fps << " " << rate_fps;
  }
}

TEST(Departures, ABufferStillDelaysInRealTime) {
  BenchGateway bench(config_with(R"({"kind": "buffer", "frames": 10, "drain_fps": 1000,
                                     "departures": [{"frames": 1, "rate_fps": 2000}]})"));
  bench.receive(Side::kLeft, numbered(0), 5 * kMillisecond);
  bench.receive(Side::kLeft, numbered(1), 5 * kMillisecond);
  bench.poll_until(10 * kMillisecond, 10'000);
  ASSERT_EQ(bench.departures().size(), 2U);
  EXPECT_EQ(bench.departures()[0].at_ns, 6 * kMillisecond);
  EXPECT_EQ(bench.departures()[1].at_ns, 6 * kMillisecond + kMillisecond / 2);
}

TEST(Sulk, DropsUntilItsTimeAfterTheNewestOverload) {
  // 1100 frames a second against 1000, then 550: overloaded as long as the rate is high.
  BenchGateway bench(config_with(R"({"kind": "sulk", "rate_fps": 1000, "depth": 5,
      "for_ns": 300000000, "departures": [{"frames": 1100, "rate_fps": 1100},
                                          {"frames": 1, "rate_fps": 550}]})"));
  const FaultTime clock({{.frames = 1100, .rate_fps = 1100}, {.frames = 1, .rate_fps = 550}});
  std::uint64_t last_lost = 0;
  for (std::uint64_t number = 0; number < 1100 + 550; ++number) {
    const auto before = dropped(bench, Drop::kSulk);
    bench.receive(Side::kLeft, numbered(number), number);
    if (dropped(bench, Drop::kSulk) > before) last_lost = number;
  }
  const auto& sulk = bench.forward().sulk;
  EXPECT_EQ(sulk.last_number, last_lost);
  EXPECT_EQ(sulk.last_drop_ns, clock.departure_ns(last_lost));
  EXPECT_LT(sulk.newest_overload_ns, 1'000'000'000U + 1'000'000);
  EXPECT_GT(sulk.newest_overload_ns, 985'000'000U);
  EXPECT_LT(sulk.last_drop_ns, sulk.newest_overload_ns + 300'000'000);
  EXPECT_GE(sulk.last_drop_ns + 2'000'000, sulk.newest_overload_ns + 300'000'000);
}

TEST(Sulk, NowAndThenDropsAllFramesForItsTime) {
  BenchGateway bench(config_with(R"({"kind": "sulk", "every_ns": 50000000, "for_ns": 2000000})"));
  bench.gateway().clear(7 * kMillisecond);
  for (Nanoseconds i = 1; i < 1000; ++i) {
    const auto before = dropped(bench, Drop::kSulk);
    bench.receive(Side::kLeft, make_udp({}), 7 * kMillisecond + i * kMillisecond);
    EXPECT_EQ(dropped(bench, Drop::kSulk) - before, i >= 50 && i % 50 < 2 ? 1U : 0U) << i;
  }
  EXPECT_EQ(dropped(bench, Drop::kSulk), 19U * 2U);
  EXPECT_EQ(bench.forward().sulk.newest_overload_ns, 950 * kMillisecond);
  EXPECT_EQ(bench.forward().sulk.last_drop_ns, 951 * kMillisecond);
}

TEST(Sulk, ByChanceSulksAsOftenAsItIsToldAndFollowsFromTheSeed) {
  const auto lost = [](const std::string& seed) {
    BenchGateway bench(
        config_with(R"({"kind": "sulk", "exponential_ns": 10000000, "for_ns": 1000000, "seed": )" +
                    seed + R"(, "departures": [{"frames": 1, "rate_fps": 10000}]})"));
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t number = 0; number < 20'000; ++number) {  // 2 s
      const auto before = dropped(bench, Drop::kSulk);
      bench.receive(Side::kLeft, numbered(number), number);
      if (dropped(bench, Drop::kSulk) > before) numbers.push_back(number);
    }
    return numbers;
  };
  const auto first = lost("1");
  EXPECT_EQ(first, lost("1"));
  EXPECT_NE(first, lost("2"));
  // A share of 1 - exp(-1 / 10) of the time: about 190 times 10 frames.
  EXPECT_NEAR(static_cast<double>(first.size()), 20'000 * (1 - std::exp(-0.1)), 400);
}

TEST(Sulk, WithoutOverloadDropsNothing) {
  BenchGateway bench(
      config_with(R"({"kind": "sulk", "rate_fps": 1000, "depth": 2, "for_ns": 1000000})"));
  bench.receive_row(200, kMillisecond);
  EXPECT_EQ(bench.departures().size(), 200U);
  EXPECT_EQ(bench.forward().sulk.last_drop_ns, 0U);
}

TEST(Mute, ForwardsNothingForItsTimeAndThenGoesOn) {
  BenchGateway bench(config_with(""));
  bench.receive_row(10, kMillisecond);
  bench.gateway().mute(5 * kMillisecond, 10 * kMillisecond);
  for (unsigned i = 11; i <= 20; ++i) {
    bench.receive(Side::kLeft, make_udp({.first_octet = static_cast<std::uint8_t>(i)}),
                  i * kMillisecond);
  }
  EXPECT_EQ(dropped(bench, Drop::kMute), 4U);
  EXPECT_EQ(bench.departures().size(), 16U);
  EXPECT_EQ(bench.order()[10], 15U);
  EXPECT_EQ(bench.record().muted_ns, 5 * kMillisecond);
  bench.gateway().mute(kMillisecond, 20 * kMillisecond);
  bench.gateway().clear(20 * kMillisecond);
  bench.receive(Side::kLeft, make_udp({}), 20 * kMillisecond);
  EXPECT_EQ(dropped(bench, Drop::kMute), 0U);
}

}  // namespace
}  // namespace natxy::gateway::test
