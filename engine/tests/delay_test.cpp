// Compares the recorders of delays with exact computation over all values.
#include "run/delay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "run/schedule.hpp"

namespace natxy::run {
namespace {

using Series = std::vector<Ticks>;

DelayHistogram recorded(const Series& values, std::size_t lot) {
  DelayHistogram histogram;
  for (std::size_t i = 0; i < values.size(); i += lot) {
    histogram.record(&values[i], static_cast<unsigned>(std::min(lot, values.size() - i)));
  }
  return histogram;
}

// |P - exact| <= max(0.1 % of (exact - Dmin), one tick): the allowed error of PDV (RFC 8219 7.3.1).
void expect_exact_enough(const Series& values, const char* what) {
  auto sorted = values;
  std::ranges::sort(sorted);
  const auto least = static_cast<double>(sorted.front());
  for (const std::size_t lot : {1U, 7U, 32U}) {
    const auto buckets = recorded(values, lot).buckets();
    ASSERT_EQ(buckets.count(), values.size());
    EXPECT_EQ(buckets.min, least);
    EXPECT_EQ(buckets.max, static_cast<double>(sorted.back()));
    for (const int permille : {1, 10, 500, 900, 990, 999, 1000}) {
      const auto rank = (sorted.size() * static_cast<std::size_t>(permille) + 999) / 1000;
      const auto exact = static_cast<double>(sorted[std::max<std::size_t>(rank, 1) - 1]);
      const auto allowed = std::max(0.001 * (exact - least), 1.0);
      EXPECT_NEAR(buckets.percentile(permille / 1000.0), exact, allowed)
          << what << ", lots of " << lot << ", " << permille << " permille";
    }
    for (const auto& [lower, upper, count] : buckets.list) {
      EXPECT_LE(upper - lower, std::max((upper - least) / 1024, 0.0) + 1e-9) << what;
    }
  }
}

TEST(DelayHistogram, IsExactEnoughWhateverTheDelaysAre) {
  std::mt19937_64 random(5);
  const auto series = [&](std::size_t n, const std::function<Ticks(std::size_t)>& value) {
    Series values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = value(i);
    return values;
  };
  constexpr Ticks kLong = 26'000'000'000;  // ten seconds
  expect_exact_enough(series(5000, [](std::size_t) { return 42; }), "all the same");
  expect_exact_enough(series(8000, [&](std::size_t) { return random() % 3'000'000; }), "uniform");
  expect_exact_enough(series(8000, [&](std::size_t) { return kLong + random() % 5000; }),
                      "a long delay that hardly varies");
  expect_exact_enough(
      series(8000, [&](std::size_t i) { return (i < 120 ? kLong : 260'000) + random() % 9000; }),
      "a cold start");
  expect_exact_enough(
      series(8000, [&](std::size_t i) { return 30'000'000 - i * 500 + random() % 99; }),
      "a queue that empties");
  std::lognormal_distribution<double> tail(9, 2);
  expect_exact_enough(
      series(8000, [&](std::size_t) { return 1'000'000 + static_cast<Ticks>(tail(random)); }),
      "a long tail");
  expect_exact_enough(series(8000, [&](std::size_t i) { return i % 2 == 0 ? 10 : kLong + i; }),
                      "two paths");
}

TEST(DelayHistogram, SaysHowWideItsBucketsAreWhenDelaysFallOnAndOn) {
  Series values;
  for (Ticks i = 200; i > 0; --i) values.push_back(i * 3 * DelayHistogram::kLinear);
  const auto buckets = recorded(values, 1).buckets();
  EXPECT_EQ(buckets.count(), values.size());
  EXPECT_EQ(buckets.min, static_cast<double>(values.back()));
  for (const auto value : values) {
    const auto exact = static_cast<double>(value);
    EXPECT_TRUE(std::ranges::any_of(buckets.list, [&](const Bucket& bucket) {
      return bucket.lower <= exact && exact <= bucket.upper;
    })) << value;
  }
}

// Each pair of consecutive frames that both arrived counts, in any order of arrival.
TEST(DelayVariation, EqualsTheDifferencesOfAllPairs) {
  std::mt19937_64 random(9);
  for (const int disorder : {0, 3, 500}) {
    std::vector<std::pair<double, std::uint64_t>> arrivals;
    std::map<std::uint64_t, Ticks> delays;
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      if (random() % 50 == 0) continue;  // lost
      delays[i] = 1000 + random() % 100'000;
      arrivals.emplace_back(
          static_cast<double>(i) + static_cast<double>(random() % 100) * disorder / 100, i);
    }
    std::ranges::sort(arrivals);
    DelayVariation variation;
    for (const auto& [when, number] : arrivals) variation.record(&number, &delays[number], 1);
    std::vector<double> exact;
    for (const auto& [number, delay] : delays) {
      const auto before = delays.find(number - 1);
      if (before == delays.end()) continue;
      exact.push_back(static_cast<double>(delay) - static_cast<double>(before->second));
    }
    std::ranges::sort(exact);
    const auto buckets = variation.buckets();
    ASSERT_EQ(variation.recorded(), exact.size());
    ASSERT_EQ(buckets.count(), exact.size());
    EXPECT_EQ(buckets.min, exact.front());
    EXPECT_EQ(buckets.max, exact.back());
    const auto median = exact[(exact.size() + 1) / 2 - 1];
    EXPECT_NEAR(buckets.percentile(0.5), median, std::max(1.0, std::abs(median) / 1000));
  }
}

TEST(DelayVariation, ALotIsTheSameAsEachFrameForItself) {
  DelayVariation lots;
  DelayVariation each;
  for (std::uint64_t first = 0; first < 3200; first += 32) {
    std::array<std::uint64_t, 32> ordinals;
    std::array<Ticks, 32> delays;
    for (unsigned i = 0; i < 32; ++i) {
      ordinals[i] = first + i;
      delays[i] = (first + i) * 7919 % 5003;
      each.record(&ordinals[i], &delays[i], 1);
    }
    lots.record(ordinals.data(), delays.data(), 32);
  }
  EXPECT_EQ(lots.recorded(), 3199U);
  EXPECT_EQ(each.recorded(), 3199U);
  EXPECT_EQ(lots.buckets().mean, each.buckets().mean);
}

TEST(DelayVariation, ForgetsANeighbourThatComesTooLate) {
  DelayVariation variation;
  const Ticks delay = 5;
  const std::uint64_t early = 0;
  variation.record(&early, &delay, 1);
  for (std::uint64_t number = 2; number < DelayVariation::kWindow + 3; ++number) {
    variation.record(&number, &delay, 1);
  }
  const std::uint64_t late = 1;
  variation.record(&late, &delay, 1);
  EXPECT_EQ(variation.recorded(), DelayVariation::kWindow);
}

std::vector<std::uint64_t> tagged(const TagPlan& plan, std::uint64_t frames) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t number = 0; number < frames; ++number) {
    if (plan.holds(number)) found.push_back(number);
  }
  return found;
}

TEST(TagPlan, SpreadsTheTagsEvenlyFromTheDelayOn) {
  constexpr TickRate kTicks(1'000'000'000);
  for (const std::uint64_t frames : {1000U, 9999U, 50'000U}) {
    const Schedule schedule({{.frames = frames, .rate_fps = 10'000, .pause_ns = 0}}, kTicks);
    for (const std::uint64_t count : {1U, 7U, 500U, 499U, 1'000'000U}) {
      for (const std::uint64_t after_ms : {0U, 37U}) {
        const TagPlan plan(schedule, after_ms * 1'000'000, count);
        const auto first = after_ms * 10;
        const auto span = frames - first;
        const auto numbers = tagged(plan, frames);
        ASSERT_EQ(numbers.size(), std::min(count, span)) << frames << " " << count;
        ASSERT_EQ(plan.among(frames), numbers.size());
        ASSERT_EQ(plan.among(numbers.back()), numbers.size() - 1);
        EXPECT_EQ(numbers.front(), first);
        for (std::size_t k = 0; k < numbers.size(); ++k) {
          const auto even = first + k * span / numbers.size();
          ASSERT_LE(even - numbers[k], 1U) << "tag " << k << " of " << count;
        }
      }
    }
  }
}

TEST(TagPlan, IsExactAtTheLargestNumbers) {
  constexpr TickRate kTicks(1'000'000'000);
  const auto frames = spec::kMaxFramesPerStream - 1;
  const Schedule schedule({{.frames = frames, .rate_fps = 100'000'000, .pause_ns = 0}}, kTicks);
  const TagPlan every(schedule, 0, frames);
  const TagPlan half(schedule, 0, frames / 2);
  int halves = 0;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    EXPECT_TRUE(every.holds(frames - i));
    halves += half.holds(frames - i) ? 1 : 0;
  }
  EXPECT_NEAR(halves, 500, 1);
  EXPECT_EQ(half.among(frames), frames / 2);
  EXPECT_EQ(every.among(frames), frames);
}

// If the step is not a multiple of 2^-24, the last tags are correct as well as the first.
TEST(TagPlan, HoldsEveryTagOfManyToTheEnd) {
  constexpr TickRate kTicks(1'000'000'000);
  for (const auto& [span, count] : {std::pair<std::uint64_t, std::uint64_t>{40'000'001, 30'000'000},
                                    {12'000'001, 10'000'000},
                                    {893'000'000, 300'000'000}}) {
    const Schedule schedule({{.frames = span, .rate_fps = 1'000'000, .pause_ns = 0}}, kTicks);
    const TagPlan plan(schedule, 0, count);
    ASSERT_EQ(plan.among(span), count);
    const auto before = plan.among(span - 200'000);
    std::uint64_t held = 0;
    for (auto number = span - 200'000; number < span; ++number) held += plan.holds(number) ? 1 : 0;
    EXPECT_EQ(held, count - before) << span << " " << count;
  }
}

}  // namespace
}  // namespace natxy::run
