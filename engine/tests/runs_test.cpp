// Tests the bounded lists of runs, and the lowest delays of stretches of numbers.
#include "spec/runs.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "run/arrivals.hpp"
#include "run/delay.hpp"

namespace natxy {
namespace {

using run::Ticks;
using spec::Runs;

TEST(Runs, AsManyAsTheListTakesStayAsTheyAre) {
  Runs runs(16);
  for (std::uint64_t i = 0; i < 16; ++i) runs.add({.first = 10 * i, .end = 10 * i + 3, .count = 2});
  ASSERT_EQ(runs.list().size(), 16U);
  for (std::uint64_t i = 0; i < 16; ++i) {
    EXPECT_EQ(runs.list()[i].first, 10 * i);
    EXPECT_EQ(runs.list()[i].end, 10 * i + 3);
    EXPECT_EQ(runs.list()[i].count, 2U);
  }
}

TEST(Runs, OneThatBeginsWhereTheLastOneEndsContinuesIt) {
  Runs runs;
  runs.add({.first = 5, .end = 7, .count = 2});
  runs.add({.first = 7, .end = 8, .count = 1});
  runs.add({.first = 9, .end = 9, .count = 400});  // a pause has no length
  runs.add({.first = 9, .end = 9, .count = 600});
  ASSERT_EQ(runs.list().size(), 2U);
  EXPECT_EQ(runs.list()[0].end, 8U);
  EXPECT_EQ(runs.list()[0].count, 3U);
  EXPECT_EQ(runs.list()[1].count, 1000U);
}

TEST(Runs, TheClosestAreJoinedFirst) {
  Runs runs(8);
  for (const std::uint64_t first : {0, 100, 200, 300, 310, 400, 500, 600, 700}) {
    runs.add({.first = first, .end = first + 1, .count = 1});
  }
  ASSERT_EQ(runs.list().size(), 8U);
  EXPECT_EQ(runs.list()[3].first, 300U);
  EXPECT_EQ(runs.list()[3].end, 311U);
  EXPECT_EQ(runs.list()[3].count, 2U);
}

// Joins any runs, and compares what the list has with what was added.
TEST(Runs, JoinedOnesHaveTheSameSumAndAreShort) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 60; ++round) {
    const std::size_t most = round % 3 == 0 ? 2 : round % 3 == 1 ? 64 : Runs::kMost;
    const auto longest_gap = std::uint64_t{1} << random() % 20;
    const auto longest_run = std::uint64_t{1} << random() % 10;
    Runs runs(most);
    std::uint64_t first = ~std::uint64_t{0};
    std::uint64_t end = random() % 1000;
    std::uint64_t sum = 0;
    std::uint64_t longest = 0;
    for (std::size_t i = 0, n = random() % (10 * most); i < n; ++i) {
      const auto from = end + 1 + random() % longest_gap;
      end = from + 1 + random() % longest_run;
      longest = std::max(longest, end - from);
      first = std::min(first, from);
      sum += end - from;
      runs.add({.first = from, .end = end, .count = end - from});
      ASSERT_LE(runs.list().size(), most);
    }
    if (sum == 0) continue;
    EXPECT_EQ(runs.list().front().first, first);
    EXPECT_EQ(runs.list().back().end, end);
    std::uint64_t found = 0;
    std::uint64_t last_end = 0;
    for (const auto& run : runs.list()) {
      EXPECT_GT(run.first, last_end);
      EXPECT_LE(run.count, run.end - run.first);
      if (most > 2) {
        EXPECT_LE(run.end - run.first, std::max(longest, 4 * (end - first) / most + 1));
      }
      found += run.count;
      last_end = run.end;
    }
    EXPECT_EQ(found, sum);
  }
}

TEST(Runs, ThoseOfSeveralSendersAreOneAscendingList) {
  Runs even;
  Runs odd;
  even.add({.first = 2, .end = 20, .count = 9});
  odd.add({.first = 1, .end = 3, .count = 1});
  odd.add({.first = 5, .end = 7, .count = 1});
  even.merge(odd);
  ASSERT_EQ(even.list().size(), 3U);
  EXPECT_EQ(even.list()[0].first, 1U);
  EXPECT_EQ(even.list()[1].first, 2U);
  EXPECT_EQ(even.list()[2].first, 5U);
}

// The window settles words at different times, so that runs reach over their ends.
TEST(Runs, OfLossesAreThoseOfTheNumbersThatNeverCame) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 50; ++round) {
    run::Arrivals arrivals(random() % 2 == 0 ? 64 : 1000);
    const std::uint64_t frames = 1 + random() % 5000;
    std::vector<spec::Run> lost;
    for (std::uint64_t number = 0; number < frames; ++number) {
      const auto missing = std::min(frames - number, random() % 9 == 0 ? random() % 200 : 0);
      if (missing > 0) {
        if (lost.empty() || lost.back().end != number) lost.push_back({number, number, 0});
        lost.back().end += missing;
        number += missing - 1;
        continue;
      }
      ASSERT_EQ(arrivals.window(0).mark(number), run::Window::Mark::kNew);
    }
    const auto losses = arrivals.losses(frames);
    const auto& found = losses.runs.list();
    ASSERT_EQ(found.size(), lost.size());
    for (std::size_t i = 0; i < lost.size(); ++i) {
      EXPECT_EQ(found[i].first, lost[i].first);
      EXPECT_EQ(found[i].end, lost[i].end);
      EXPECT_EQ(found[i].count, lost[i].end - lost[i].first);
    }
  }
}

TEST(Runs, OfManyLossesHaveTheSameSum) {
  constexpr std::uint64_t kFrames = 300'000;
  run::Arrivals arrivals(1000);
  for (std::uint64_t number = 0; number < kFrames; ++number) {
    if (number % 10 != 0) (void)arrivals.window(0).mark(number);
  }
  const auto losses = arrivals.losses(kFrames);
  std::uint64_t sum = 0;
  for (const auto& run : losses.runs.list()) sum += run.count;
  EXPECT_EQ(sum, losses.count);
  EXPECT_EQ(losses.gaps, kFrames / 10);
  EXPECT_LE(losses.runs.list().size(), Runs::kMost);
  EXPECT_GT(losses.runs.list().size(), Runs::kMost / 2);
}

// Records lots whose numbers ascend, but for some swaps of neighbours, at any number of frames.
TEST(ShortestDelays, EachStretchHasTheShortestOfItsFrames) {
  std::mt19937_64 random(13);
  for (const std::uint64_t frames : {1U, 9U, 320U, 321U, 1000U, 99'999U}) {
    run::ShortestDelays shortest(frames);
    const auto width = (frames + 319) / 320;
    std::vector<Ticks> exact((frames + width - 1) / width, run::kNever);
    for (std::uint64_t number = 0; number < frames;) {
      std::vector<std::uint64_t> numbers;
      std::vector<Ticks> delays;
      Ticks least = run::kNever;
      for (auto n = 1 + random() % 32; n > 0 && number < frames; --n, ++number) {
        if (random() % 10 == 0) continue;  // it is lost
        numbers.push_back(number);
        delays.push_back(1000 + random() % 500);
        least = std::min(least, delays.back());
        auto& lowest = exact[number / width];
        lowest = std::min(lowest, delays.back());
      }
      if (numbers.empty()) continue;
      shortest.record(numbers.data(), delays.data(), static_cast<unsigned>(numbers.size()), least);
    }
    std::vector<std::pair<std::uint64_t, Ticks>> expected;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      if (exact[i] != run::kNever) expected.emplace_back(i * width, exact[i]);
    }
    EXPECT_LE(expected.size(), run::ShortestDelays::kMost);
    EXPECT_EQ(shortest.list(), expected) << frames;
  }
}

TEST(ShortestDelays, ThoseOfAnotherReceiverAreMerged) {
  run::ShortestDelays one(640);
  run::ShortestDelays other(640);
  const auto record = [](run::ShortestDelays& to, std::uint64_t number, Ticks delay) {
    to.record(&number, &delay, 1, delay);
  };
  record(one, 0, 50);
  record(other, 1, 40);
  record(other, 638, 70);
  one.merge(other);
  const std::vector<std::pair<std::uint64_t, Ticks>> expected{{0, 40}, {638, 70}};
  EXPECT_EQ(one.list(), expected);
}

}  // namespace
}  // namespace natxy
