// Compares the bucket, the queue, the histogram and the timeline with results that are computed in
// another way.
#include "gateway/queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "gateway/packet.hpp"
#include "gateway/record.hpp"

namespace natxy::gateway {
namespace {

constexpr Nanoseconds kSecond = 1'000'000'000;

// If frames are always offered, a bucket of depth B passes exactly B + floor(rate * t) frames by t.
TEST(TokenBucket, IsExactOverHours) {
  for (const std::uint64_t rate : {1U, 3U, 7'777U, 14'880'952U, 148'809'523U}) {
    TokenBucket bucket(rate, 4);
    std::uint64_t passed = 0;
    Nanoseconds now_ns = 12'345;
    for (int i = 0; i < 4; ++i) passed += bucket.take(now_ns) ? 1 : 0;
    EXPECT_FALSE(bucket.take(now_ns));
    const auto start_ns = now_ns;
    for (int i = 0; i < 200'000; ++i) {
      now_ns +=
          std::max<Nanoseconds>(1, kSecond / rate);  // never later than the next token but one
      for (int k = 0; k < 3; ++k) passed += bucket.take(now_ns) ? 1 : 0;
      const auto tokens = Uint128{now_ns - start_ns} * rate / kSecond;
      ASSERT_EQ(passed, 4 + static_cast<std::uint64_t>(tokens)) << rate << " " << i;
    }
  }
}

TEST(TokenBucket, NeverHoldsMoreThanItsDepth) {
  TokenBucket bucket(1'000'000'000, 1'000'000'000);
  EXPECT_TRUE(bucket.take(0));
  TokenBucket shallow(1'000'000'000, 3);
  EXPECT_TRUE(shallow.take(0));
  const Nanoseconds years_ns = UINT64_MAX / 2;
  int passed = 0;
  for (int i = 0; i < 10; ++i) passed += shallow.take(years_ns) ? 1 : 0;
  EXPECT_EQ(passed, 3);
}

// In any interval, with any arrivals, a bucket passes at most B + rate * t frames.
TEST(TokenBucket, HoldsForPseudorandomArrivals) {
  constexpr std::uint64_t kRate = 50'000;
  constexpr std::uint64_t kDepth = 10;
  std::mt19937_64 random(7);
  TokenBucket bucket(kRate, kDepth);
  std::vector<Nanoseconds> passed;
  Nanoseconds now_ns = 0;
  for (int i = 0; i < 20'000; ++i) {
    now_ns += random() % 30'000;
    if (bucket.take(now_ns)) passed.push_back(now_ns);
  }
  for (std::size_t from = 0; from < passed.size(); from += 97) {
    for (std::size_t to = from; to < passed.size(); to += 13) {
      const auto most = kDepth + (passed[to] - passed[from]) * kRate / kSecond;
      ASSERT_LE(to - from + 1, most);
    }
  }
}

TEST(DrainQueue, FramesLeaveAtTheExactRate) {
  for (const std::uint64_t rate : {1U, 3U, 7'777U, 999'999'937U}) {
    DrainQueue queue(1'000'000, rate);
    for (std::uint64_t i = 1; i <= 100'000; ++i) {
      const auto exact = (Uint128{i} * kSecond + rate - 1) / rate;  // rounded up: never early
      ASSERT_EQ(queue.departure(1000), 1000 + static_cast<Nanoseconds>(exact)) << rate;
    }
  }
}

TEST(DrainQueue, AnIdleLinkStartsAtOnce) {
  DrainQueue queue(2, 1000);
  EXPECT_EQ(queue.departure(0), 1'000'000U);
  EXPECT_EQ(queue.departure(5'000'000), 6'000'000U);
  EXPECT_EQ(queue.departure(5'500'000), 7'000'000U);
  EXPECT_EQ(queue.departure(5'999'999), std::nullopt);
  EXPECT_EQ(queue.departure(6'000'000), 8'000'000U);
}

// At twice its rate, a queue of N takes N frames, and one for each frame that has left.
TEST(DrainQueue, AtTwiceItsRateForwardsExactlyItsRate) {
  for (const std::uint64_t frames : {1U, 4U, 5U, 256U}) {
    DrainQueue queue(frames, 1000);
    std::uint64_t taken = 0;
    for (Nanoseconds i = 0; i < 2000; ++i) taken += queue.departure(i * 500'000) ? 1 : 0;
    EXPECT_EQ(taken, frames + 999);  // the last frame comes after 999.5 ms
  }
}

// A frame that waits leaves when a token bucket has a token for it.
TEST(DrainQueue, WithADepthFollowsATokenBucket) {
  for (const std::uint64_t rate : {100'000'000U, 299'999'999U, 41'000'003U}) {
    std::mt19937_64 random(rate);
    constexpr std::size_t kFrames = 6;
    DrainQueue shaper(kFrames, rate, 20);
    TokenBucket bucket(rate, 20);
    std::vector<Nanoseconds> left;
    Nanoseconds now_ns = 50;
    for (int i = 0; i < 20'000; ++i) {
      now_ns += random() % 50 == 0 ? 500 : random() % 16;
      const auto waiting = std::ranges::count_if(left, [&](auto at_ns) { return at_ns > now_ns; });
      if (waiting >= static_cast<std::ptrdiff_t>(kFrames)) {
        ASSERT_EQ(shaper.departure(now_ns), std::nullopt);
        continue;
      }
      auto due_ns = left.empty() ? now_ns : std::max(now_ns, left.back());
      while (!bucket.take(due_ns)) ++due_ns;
      ASSERT_EQ(shaper.departure(now_ns), due_ns) << rate << " " << i;
      left.push_back(due_ns);
      if (left.size() > kFrames) left.erase(left.begin());
    }
  }
}

TEST(Histogram, PercentilesAreWithinATenthOfAPercent) {
  std::mt19937_64 random(3);
  Histogram histogram;
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 100'001; ++i) {
    values.push_back(
        static_cast<std::uint64_t>(std::exp2(static_cast<double>(random() % 4000) / 100)));
    histogram.add(values.back());
  }
  std::ranges::sort(values);
  EXPECT_EQ(histogram.count(), values.size());
  EXPECT_EQ(histogram.min(), values.front());
  EXPECT_EQ(histogram.max(), values.back());
  for (const std::uint64_t permille : {1U, 10U, 500U, 900U, 990U, 999U, 1000U}) {
    const auto rank = (values.size() * permille + 999) / 1000;
    const auto exact = static_cast<double>(values[rank - 1]);
    EXPECT_NEAR(static_cast<double>(histogram.percentile(permille)), exact, exact * 0.001);
  }
}

TEST(Histogram, SmallValuesAreExact) {
  Histogram histogram;
  for (std::uint64_t value = 1; value <= 2000; ++value) histogram.add(value);
  EXPECT_EQ(histogram.percentile(500), 1000U);
  EXPECT_EQ(histogram.percentile(999), 1998U);
}

// RFC 2330, 11.3: of 1, 2, 3 the median is 2; of 1, 2 it is 1, and the 51st percentile is 2.
TEST(Histogram, ARankIsRoundedUp) {
  Histogram histogram;
  histogram.add(1);
  histogram.add(2);
  EXPECT_EQ(histogram.percentile(500), 1U);
  EXPECT_EQ(histogram.percentile(510), 2U);
  histogram.add(3);
  EXPECT_EQ(histogram.percentile(500), 2U);
}

TEST(Histogram, IsEmptyWhenCleared) {
  Histogram histogram;
  histogram.add(UINT64_MAX);
  EXPECT_EQ(histogram.max(), UINT64_MAX);
  histogram.clear();
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.min(), 0U);
  EXPECT_EQ(histogram.percentile(999), 0U);
}

TEST(Timeline, IsSortedAndStable) {
  std::mt19937_64 random(5);
  Timeline<std::size_t> timeline;
  std::vector<std::pair<Nanoseconds, std::size_t>> expected;
  for (std::size_t i = 0; i < 10'000; ++i) {
    const Nanoseconds due_ns = 1 + random() % 500;
    timeline.put(due_ns, i);
    expected.emplace_back(due_ns, i);
  }
  std::ranges::sort(expected);
  EXPECT_FALSE(timeline.has_due(expected.front().first - 1));
  for (const auto& entry : expected) {
    ASSERT_TRUE(timeline.has_due(entry.first));
    ASSERT_EQ(timeline.take(), entry);
  }
  EXPECT_FALSE(timeline.has_due(UINT64_MAX));
}

TEST(Checksum, FollowsAsItIsComputedAnew) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 100'000; ++i) {
    std::array<std::uint8_t, 8> octets{};
    write64(octets.data(), random());
    if (i % 3 == 0) write16(octets.data() + 2, i % 2 == 0 ? 0 : 0xffff);
    const auto before = checksum_of(sum_of(octets));
    const std::uint64_t removed = read16(octets.data() + 2);
    write16(octets.data() + 2, i % 5 == 0 ? 0 : static_cast<std::uint32_t>(random()) & 0xffffU);
    const std::uint64_t added = read16(octets.data() + 2);
    const auto followed = follow(before, removed, added);
    EXPECT_EQ(fold(sum_of(octets) + followed), 0xffff);
  }
}

}  // namespace
}  // namespace natxy::gateway
