#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "run/histogram.hpp"
#include "run/window.hpp"

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
    for (int i = 0; i < 20'000; ++i) {
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
    one.for_each([&](Ticks lower, std::uint64_t count) {
      EXPECT_LE(lower, value);
      EXPECT_LE(value - lower, value / 32);
      EXPECT_EQ(count, 1U);
    });
    if (value > 4096) value += value / 50;
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
  std::vector<std::pair<Ticks, std::uint64_t>> seen[2];
  each.for_each([&](Ticks lower, std::uint64_t count) { seen[0].emplace_back(lower, count); });
  lots.for_each([&](Ticks lower, std::uint64_t count) { seen[1].emplace_back(lower, count); });
  EXPECT_EQ(seen[0], seen[1]);
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

TEST(Window, AgreesWithASetWhereverItReaches) {
  std::mt19937_64 random(3);
  for (const std::uint64_t capacity : {1U, 64U, 1000U, 4096U}) {
    Window window(capacity);
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
  Window window(100);
  EXPECT_EQ(window.mark(1'000'000), Window::Mark::kNew);
  EXPECT_EQ(window.mark(1'000'000), Window::Mark::kDuplicate);
  EXPECT_EQ(window.mark(999'999), Window::Mark::kNew);
  EXPECT_EQ(window.mark(0), Window::Mark::kTooOld);
}

}  // namespace
}  // namespace natxy::run
