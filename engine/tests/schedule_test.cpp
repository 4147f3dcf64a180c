#include "run/schedule.hpp"

#include <gtest/gtest.h>

namespace natxy::run {
namespace {

// The definition in 128-bit integers: frame i is due at floor(i * hz / rate).
Ticks exact(std::uint64_t number, std::uint64_t hz, std::uint64_t rate_fps) {
  return static_cast<Ticks>(Uint128{number} * hz / rate_fps);
}

struct Case {
  std::uint64_t hz;
  std::uint64_t rate_fps;
};

class DueTimes : public testing::TestWithParam<Case> {};

TEST_P(DueTimes, AreExactOverHours) {
  const auto [hz, rate] = GetParam();
  const TickRate ticks(hz);
  const auto frames = std::min<std::uint64_t>(rate * 3600, spec::kMaxFramesPerStream);
  const Schedule schedule({{.frames = frames, .rate_fps = rate, .pause_ns = 0}}, ticks);
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    const auto number = i < 100'000 ? frames / 100'000 * i : frames - 1 - (i - 100'000) % frames;
    if (number >= frames) continue;
    ASSERT_EQ(schedule.due(number), exact(number, hz, rate)) << number;
  }
  EXPECT_EQ(schedule.end(), exact(frames, hz, rate));
}

TEST_P(DueTimes, WalkedAreTheSame) {
  const auto [hz, rate] = GetParam();
  const auto frames = std::min<std::uint64_t>(1'000'000, rate * 86'400);  // at most a day
  const Schedule schedule({{.frames = frames, .rate_fps = rate, .pause_ns = 0}}, TickRate(hz));
  for (const std::uint64_t stride : {1U, 3U, 4U}) {
    for (std::uint64_t first = 0; first < stride; ++first) {
      std::uint64_t number = first;
      for (Cursor cursor(schedule, first, stride); !cursor.done(); cursor.advance()) {
        ASSERT_EQ(cursor.number(), number);
        ASSERT_EQ(cursor.due(), exact(number, hz, rate));
        number += stride;
      }
      ASSERT_GE(number, frames);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rates, DueTimes,
                         testing::Values(Case{2'596'100'000, 40'000'000},
                                         Case{2'596'123'457, 39'999'999},
                                         Case{2'100'000'000, 14'880'952},
                                         Case{3'999'999'979, 148'809'523}, Case{1'000'000'000, 3},
                                         Case{2'600'000'000, 1}, Case{24'000'000, 10'000'000},
                                         Case{2'596'100'000, 8'589'934'592}));

TEST(Schedule, SegmentsFollowEachOtherWithTheirPauses) {
  const TickRate ticks(1'000'000'000);
  const Schedule schedule({{.frames = 10, .rate_fps = 1'000'000, .pause_ns = 500},
                           {.frames = 0, .rate_fps = 1, .pause_ns = 1'000},
                           {.frames = 5, .rate_fps = 500'000, .pause_ns = 7}},
                          ticks);
  EXPECT_EQ(schedule.frames(), 15U);
  EXPECT_EQ(schedule.due(9), 9'000U);
  EXPECT_EQ(schedule.due(10), 11'500U);
  EXPECT_EQ(schedule.due(14), 19'500U);
  EXPECT_EQ(schedule.end(), 21'507U);
  for (const std::uint64_t stride : {1U, 2U, 7U}) {
    for (Cursor cursor(schedule, 1, stride); !cursor.done(); cursor.advance()) {
      EXPECT_EQ(cursor.due(), schedule.due(cursor.number()));
    }
  }
}

// The definition: a burst begins when its first frame is due at the mean rate.
Ticks exact_in_bursts(std::uint64_t number, std::uint64_t hz, const spec::Segment& segment) {
  const auto in_burst = number % segment.burst_frames;
  return exact(number - in_burst, hz, segment.rate_fps) +
         exact(in_burst, hz, segment.burst_rate_fps);
}

class Bursts : public testing::TestWithParam<spec::Segment> {};

TEST_P(Bursts, AreDueExactlyAndWalkedAreTheSame) {
  constexpr std::uint64_t kHz = 2'596'123'457;
  const auto segment = GetParam();
  const Schedule schedule({segment}, TickRate(kHz));
  EXPECT_EQ(schedule.end(), exact(segment.frames, kHz, segment.rate_fps));
  EXPECT_EQ(schedule.max_rate_fps(), segment.rate_fps);
  EXPECT_EQ(schedule.shortest_burst(), segment.burst_frames);
  EXPECT_EQ(schedule.longest_burst(), segment.burst_frames);
  for (const std::uint64_t stride : {1U, 3U, 40U}) {
    for (std::uint64_t first = 0; first < stride; ++first) {
      auto number = first;
      for (Cursor cursor(schedule, first, stride); !cursor.done(); cursor.advance()) {
        ASSERT_EQ(cursor.number(), number);
        ASSERT_EQ(cursor.due(), exact_in_bursts(number, kHz, segment)) << number;
        ASSERT_EQ(schedule.due(number), cursor.due()) << number;
        number += stride;
      }
      ASSERT_GE(number, segment.frames);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Lengths, Bursts,
    testing::Values(
        spec::Segment{
            .frames = 50'000, .rate_fps = 10'001, .burst_frames = 16, .burst_rate_fps = 14'880'952},
        spec::Segment{.frames = 50'001,
                      .rate_fps = 999'999,
                      .burst_frames = 1024,
                      .burst_rate_fps = 1'000'000},
        spec::Segment{.frames = 7, .rate_fps = 3, .burst_frames = 2, .burst_rate_fps = 3},
        spec::Segment{.frames = 100,
                      .rate_fps = 5,
                      .burst_frames = 65'536,
                      .burst_rate_fps = 8'589'934'592}));

TEST(Schedule, BurstsAndSteadyTrafficFollowEachOther) {
  const Schedule schedule(
      {{.frames = 3, .rate_fps = 1'000, .pause_ns = 10'000},
       {.frames = 10, .rate_fps = 1'000, .burst_frames = 4, .burst_rate_fps = 1'000'000},
       {.frames = 5, .rate_fps = 500'000}},
      TickRate(1'000'000'000));
  EXPECT_EQ(schedule.due(2), 2'000'000U);
  EXPECT_EQ(schedule.due(3), 3'010'000U) << "the first burst";
  EXPECT_EQ(schedule.due(6), 3'013'000U);
  EXPECT_EQ(schedule.due(7), 7'010'000U) << "the second, four periods later";
  EXPECT_EQ(schedule.due(12), 11'011'000U) << "the last one has two frames";
  EXPECT_EQ(schedule.due(13), 13'010'000U) << "steady again, after ten periods";
  EXPECT_EQ(schedule.due(14), 13'012'000U);
  for (const std::uint64_t stride : {1U, 2U, 5U, 11U}) {
    for (Cursor cursor(schedule, 0, stride); !cursor.done(); cursor.advance()) {
      EXPECT_EQ(cursor.due(), schedule.due(cursor.number())) << cursor.number();
    }
  }
}

TEST(Schedule, SteadyTrafficHasNoBursts) {
  const Schedule schedule({{.frames = 3, .rate_fps = 1'000}}, TickRate(1'000'000'000));
  EXPECT_EQ(schedule.shortest_burst(), ~std::uint64_t{0});
  EXPECT_EQ(schedule.longest_burst(), 0U);
}

TEST(Schedule, OneStrideCanPassAWholeSegment) {
  const Schedule schedule({{.frames = 2, .rate_fps = 1000, .pause_ns = 0},
                           {.frames = 1, .rate_fps = 1000, .pause_ns = 0},
                           {.frames = 9, .rate_fps = 2000, .pause_ns = 0}},
                          TickRate(1'000'000));
  Cursor cursor(schedule, 1, 5);
  cursor.advance();
  EXPECT_EQ(cursor.number(), 6U);
  EXPECT_EQ(cursor.due(), schedule.due(6));
  cursor.advance();
  cursor.advance();
  EXPECT_TRUE(cursor.done());
  EXPECT_EQ(cursor.due(), kNever);
}

TEST(Mix, FollowsTheDefinition) {
  for (const auto& [n, m] : {std::pair{1U, 1U},
                             {2U, 2U},
                             {10U, 9U},
                             {2U, 1U},
                             {10U, 1U},
                             {2U, 0U},
                             {7U, 3U},
                             {65536U, 65535U}}) {
    const Mix mix({.n = n, .m = m});
    std::array<std::uint64_t, 2> next{};
    for (std::uint64_t i = 0; i < 10'000; ++i) {
      const auto kind = i % n < m ? spec::Kind::kForeground : spec::Kind::kBackground;
      const auto place = mix.at(i);
      ASSERT_EQ(place.kind, kind);
      ASSERT_EQ(place.ordinal, next[static_cast<std::size_t>(kind)]++);
      ASSERT_EQ(mix.count(spec::Kind::kForeground, i + 1), next[0]);
      ASSERT_EQ(mix.count(spec::Kind::kBackground, i + 1), next[1]);
    }
  }
}

TEST(Mix, IsEvenIfAsked) {
  for (const auto& [n, m] : {std::pair{1U, 1U},
                             {10U, 9U},
                             {10U, 1U},
                             {7U, 3U},
                             {10U, 5U},
                             {65536U, 65535U},
                             {65521U, 1009U},
                             {3U, 0U}}) {
    const Mix mix({.n = n, .m = m, .even = true});
    std::array<std::uint64_t, 2> next{};
    for (std::uint64_t i = 0; i < 200'000; ++i) {
      const auto place = mix.at(i);
      ASSERT_EQ(place.ordinal, next[static_cast<std::size_t>(place.kind)]++);
      // As many as the share of the frames asks for, rounded up, after each frame.
      ASSERT_EQ(next[0], ((i + 1) * m + n - 1) / n) << n << ' ' << m << ' ' << i;
      ASSERT_EQ(mix.count(spec::Kind::kForeground, i + 1), next[0]);
      ASSERT_EQ(mix.count(spec::Kind::kBackground, i + 1), next[1]);
    }
  }
}

}  // namespace
}  // namespace natxy::run
