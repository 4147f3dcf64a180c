#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "run/arrivals.hpp"
#include "run/histogram.hpp"

namespace natxy::run {
namespace {

double exact_percentile(std::vector<Ticks> values, double p) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(values.size())));
  return static_cast<double>(values[std::max<std::size_t>(rank, 1) - 1]);
}

TEST(Histogram, IsWithinItsPrecisionOfTheExactPercentiles) {
  std::mt19937_64 random(7);
  for (const double spread : {3.0, 8.0, 20.0, 30.0}) {
    std::lognormal_distribution<double> durations(spread / 2, spread / 10);
    Histogram<10> histogram;
    std::vector<Ticks> values;
    for (int i = 0; i < 8'000; ++i) {
      values.push_back(static_cast<Ticks>(durations(random)));
      histogram.record(values.back());
    }
    for (const double p : {0.0, 0.001, 0.5, 0.9, 0.99, 0.999, 1.0}) {
      const auto exact = exact_percentile(values, p);
      EXPECT_NEAR(histogram.percentile(p), exact, exact / 1024 + 0.5);
    }
    EXPECT_EQ(histogram.min(), *std::min_element(values.begin(), values.end()));
    EXPECT_EQ(histogram.max(), *std::max_element(values.begin(), values.end()));
    EXPECT_EQ(histogram.count(), values.size());
  }
}

TEST(Histogram, BucketsAreContiguousAndHoldTheirValues) {
  for (Ticks value = 0; value < 100'000; ++value) {
    Histogram<5> one;
    one.record(value);
    const auto buckets = one.buckets();
    ASSERT_EQ(buckets.list.size(), 1U);
    const auto& [lower, upper, count] = buckets.list.front();
    EXPECT_LE(lower, value);
    EXPECT_GE(upper, value);
    EXPECT_LE(upper - lower, value / 32);
    EXPECT_EQ(count, 1U);
    if (value > 1024) value += value / 50;
  }
}

TEST(Histogram, ALotIsTheSameAsEachValueForItself) {
  std::mt19937_64 random(11);
  Histogram<5> each;
  Histogram<5> lots;
  std::array<std::uint32_t, Histogram<5>::kMaxLot> values;
  for (unsigned n = 1; n <= values.size(); ++n) {
    for (auto& value : values) value = static_cast<std::uint32_t>(random() >> (random() % 32 + 32));
    lots.record(values.data(), n);
    for (unsigned i = 0; i < n; ++i) each.record(values[i]);
  }
  const auto seen = each.buckets().list;
  const auto together = lots.buckets().list;
  ASSERT_EQ(seen.size(), together.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i].lower, together[i].lower);
    EXPECT_EQ(seen[i].count, together[i].count);
  }
  EXPECT_EQ(each.mean(), lots.mean());
  EXPECT_EQ(each.min(), lots.min());
  EXPECT_EQ(each.max(), lots.max());
}

TEST(Histogram, TakesTheLongestDurations) {
  Histogram<5> histogram;
  histogram.record(kNever - 1);
  EXPECT_EQ(histogram.max(), kNever - 1);
  EXPECT_EQ(histogram.count(), 1U);
}

TEST(Histogram, MergesAsIfRecordedTogether) {
  Histogram<10> one;
  Histogram<10> other;
  Histogram<10> both;
  for (Ticks i = 0; i < 1000; ++i) {
    (i % 3 == 0 ? one : other).record(i * i);
    both.record(i * i);
  }
  one.merge(other);
  EXPECT_EQ(one.percentile(0.5), both.percentile(0.5));
  EXPECT_EQ(one.count(), both.count());
  EXPECT_EQ(one.mean(), both.mean());
  EXPECT_EQ(Histogram<10>().percentile(0.5), 0);
}

TEST(Histogram, ExtremesOfTheOtherOneAreMergedToo) {
  Histogram<10> one;
  Histogram<10> other;
  one.record(500);
  other.record(7);
  other.record(9000);
  one.merge(other);
  EXPECT_EQ(one.min(), 7U);
  EXPECT_EQ(one.max(), 9000U);
}

TEST(LossRuns, TheLongestRunIsOfConsecutiveNumbers) {
  LossRuns runs;
  runs.missing(3, 2);
  runs.missing(10, 3);
  runs.missing(13, 1);
  runs.missing(20, 2);
  EXPECT_EQ(runs.count, 8U);
  EXPECT_EQ(runs.first, 3U);
  EXPECT_EQ(runs.last, 21U);
  EXPECT_EQ(runs.longest, 4U);
  EXPECT_EQ(runs.longest_first, 10U);
  EXPECT_EQ(runs.gaps, 3U);
}

// A gap may reach over the end of a word, and over words that are settled at different times.
TEST(LossRuns, AGapIsARunOfMissingNumbersWhereverWordsEnd) {
  LossRuns runs;
  runs.word(0, ~(std::uint64_t{1} << 63U));  // 63 is missing
  runs.word(64, ~std::uint64_t{1});          // 64 as well
  EXPECT_EQ(runs.gaps, 1U);
  runs.word(128, 0x5555555555555555U);  // every second one
  EXPECT_EQ(runs.gaps, 33U);
  runs.missing(192, 100);  // continues the last gap
  EXPECT_EQ(runs.gaps, 33U);
  runs.word(320, 0, 330);
  EXPECT_EQ(runs.gaps, 34U);
}

TEST(Window, AgreesWithASetWhereverItReaches) {
  std::mt19937_64 random(3);
  for (const std::uint64_t capacity : {1U, 64U, 1000U, 4096U}) {
    Arrivals arrivals(capacity);
    auto& window = arrivals.window(0);
    ASSERT_GE(window.capacity(), capacity);
    std::set<std::uint64_t> seen;
    std::uint64_t newest = 0;
    for (int i = 0; i < 50'000; ++i) {
      const auto jump = i % 5000 == 4999 ? 20'000 : random() % 40;
      const auto number = newest + jump >= random() % (capacity + 30)
                              ? newest + jump - std::min(newest + jump, random() % (capacity + 30))
                              : newest;
      newest = std::max(newest, number);
      const auto mark = window.mark(number);
      if (newest - number >= window.capacity()) {
        ASSERT_EQ(mark, Window::Mark::kTooOld);
      } else {
        ASSERT_EQ(mark, seen.insert(number).second ? Window::Mark::kNew : Window::Mark::kDuplicate)
            << number << " newest " << newest;
      }
    }
  }
}

TEST(Window, ForgetsNothingAtAFarFirstNumber) {
  Arrivals arrivals(100);
  auto& window = arrivals.window(0);
  EXPECT_EQ(window.mark(1'000'000), Window::Mark::kNew);
  EXPECT_EQ(window.mark(1'000'000), Window::Mark::kDuplicate);
  EXPECT_EQ(window.mark(999'999), Window::Mark::kNew);
  EXPECT_EQ(window.mark(0), Window::Mark::kTooOld);
}

// Compares the losses with a set, for any numbers that leave the window, and any leap.
TEST(Window, TellsWhatNeverCame) {
  std::mt19937_64 random(21);
  for (int round = 0; round < 100; ++round) {
    const std::uint64_t frames = 1 + random() % 5000;
    Arrivals arrivals(random() % 2 == 0 ? 64 : 1000);
    auto& window = arrivals.window(0);
    std::set<std::uint64_t> came;
    for (std::uint64_t number = 0; number < frames;) {
      const auto length = random() % (round % 3 == 0 ? 900 : 40);
      for (std::uint64_t i = 0; i < length && number < frames; ++i, ++number) {
        (void)window.mark(number);
        came.insert(number);
      }
      number += random() % 5 == 0 ? random() % 400 : random() % 3;
    }
    LossRuns exact;
    std::uint64_t gaps = 0;
    for (std::uint64_t number = 0; number < frames; ++number) {
      if (came.contains(number)) continue;
      exact.missing(number, 1);
      gaps += number == 0 || came.contains(number - 1);
    }
    const auto found = arrivals.losses(frames);
    ASSERT_EQ(found.count, frames - came.size());
    ASSERT_EQ(found.first, exact.first);
    ASSERT_EQ(found.last, exact.last);
    ASSERT_EQ(found.longest, exact.longest);
    ASSERT_EQ(found.longest_first, exact.longest_first);
    ASSERT_EQ(found.gaps, gaps);
    if (exact.count > 0) {
      ASSERT_EQ(arrivals.first_missing(), exact.first);
    }
  }
}

TEST(Window, FirstMissingMovesOnAsHolesAreFilled) {
  Arrivals arrivals(1000);
  auto& window = arrivals.window(0);
  EXPECT_EQ(arrivals.first_missing(), 0U);
  for (std::uint64_t number = 0; number < 300; ++number) {
    if (number != 70 && number != 200) (void)window.mark(number);
  }
  EXPECT_EQ(arrivals.first_missing(), 70U);
  (void)window.mark(70);
  EXPECT_EQ(arrivals.first_missing(), 200U);
  (void)window.mark(200);
  EXPECT_GE(arrivals.first_missing(), 300U);
}

// Numbers arrive at several receivers, some of them out of order, some never; one receiver may lag
// behind by nearly a window, or get no frame at all.
TEST(Arrivals, SeveralReceiversLoseWhatArrivesAtNoneOfThem) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 30; ++round) {
    const auto receivers = 2 + static_cast<unsigned>(random() % 3);
    const std::uint64_t frames = 1 + random() % 20'000;
    const std::uint64_t capacity = random() % 2 == 0 ? 256 : 4000;
    Arrivals arrivals(capacity, receivers);
    std::vector<std::vector<std::uint64_t>> of(receivers);
    std::set<std::uint64_t> came;
    for (std::uint64_t number = 0; number < frames; ++number) {
      if (random() % 50 == 0) number += random() % (round % 3 == 0 ? 2 * capacity : 9);
      if (number >= frames) break;
      of[random() % (receivers - round % 2)].push_back(number);
      came.insert(number);
    }
    std::vector<std::size_t> next(receivers, 0);
    std::uint64_t newest = 0;
    for (std::size_t left = came.size(); left > 0;) {
      const auto which = static_cast<unsigned>(random() % receivers);
      if (next[which] == of[which].size()) continue;
      const auto number = of[which][next[which]];
      // A receiver that would run ahead of the others by the capacity waits for them.
      bool waits = false;
      for (unsigned other = 0; other < receivers; ++other) {
        waits |= next[other] < of[other].size() && of[other][next[other]] + capacity / 2 < number;
      }
      if (waits) continue;
      ASSERT_EQ(arrivals.window(which).mark(number), Window::Mark::kNew) << number;
      newest = std::max(newest, number);
      ++next[which];
      --left;
    }
    LossRuns exact;
    std::uint64_t gaps = 0;
    for (std::uint64_t number = 0; number < frames; ++number) {
      if (came.contains(number)) continue;
      exact.missing(number, 1);
      gaps += number == 0 || came.contains(number - 1);
    }
    const auto found = arrivals.losses(frames);
    ASSERT_EQ(found.count, exact.count);
    ASSERT_EQ(found.first, exact.first);
    ASSERT_EQ(found.last, exact.last);
    ASSERT_EQ(found.longest, exact.longest);
    ASSERT_EQ(found.longest_first, exact.longest_first);
    ASSERT_EQ(found.gaps, gaps);
    ASSERT_EQ(arrivals.shared(), 0U);
    if (exact.count > 0) {
      ASSERT_EQ(arrivals.first_missing(), exact.first);
    }
  }
}

TEST(Arrivals, ANumberAtTwoReceiversIsCountedAlsoAfterItHasLeft) {
  Arrivals arrivals(64, 2);
  EXPECT_EQ(arrivals.window(0).mark(3), Window::Mark::kNew);
  EXPECT_EQ(arrivals.window(1).mark(3), Window::Mark::kNew);
  EXPECT_EQ(arrivals.shared(), 1U);
  EXPECT_EQ(arrivals.window(0).mark(100'000), Window::Mark::kNew);
  EXPECT_EQ(arrivals.shared(), 1U);
  EXPECT_EQ(arrivals.window(1).mark(4), Window::Mark::kTooOld);
  EXPECT_EQ(arrivals.window(1).mark(100'000), Window::Mark::kNew);
  EXPECT_EQ(arrivals.shared(), 2U);
}

TEST(Arrivals, TheFirstHopLimitCountsForAll) {
  Arrivals arrivals(64, 2);
  constexpr frame::HopLimits kFirst{.inner = 63, .outer = 255};
  constexpr frame::HopLimits kOther{.inner = 62, .outer = 64};
  EXPECT_EQ(arrivals.agree_on_hop_limits(0, kFirst), kFirst);
  EXPECT_EQ(arrivals.agree_on_hop_limits(0, kOther), kFirst);
  EXPECT_EQ(arrivals.agree_on_hop_limits(1, kOther), kOther);
}

TEST(Arrivals, TheLastArrivalIsThatOfAnyReceiver) {
  Arrivals arrivals(64, 2);
  EXPECT_EQ(arrivals.last_came(), kNever);
  arrivals.came(1, 500);
  arrivals.came(0, 400);
  EXPECT_EQ(arrivals.last_came(), 500U);
}

}  // namespace
}  // namespace natxy::run
