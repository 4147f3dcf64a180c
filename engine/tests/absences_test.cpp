// From looks at a CPU to the times in which it was away.
#include "watch/absences.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace natxy::watch {
namespace {

constexpr std::uint64_t kPeriod = 100;

std::vector<Sample> every_period(std::uint64_t until) {
  std::vector<Sample> samples;
  for (std::uint64_t at = 0; at <= until; at += kPeriod) samples.push_back({.at_ns = at});
  return samples;
}

TEST(Absences, NoneWhereEveryLookCameAndSawTheGateway) {
  const auto found = absences(every_period(10'000), 0, 10'000, kPeriod);
  EXPECT_EQ(found.samples, 100U);
  EXPECT_EQ(found.count, 0U);
  EXPECT_EQ(found.total_ns, 0U);
}

TEST(Absences, ALookThatCameLateIsTheHosts) {
  auto samples = every_period(10'000);
  samples.erase(samples.begin() + 20, samples.begin() + 25);  // none from 2,000 to 2,400
  const auto found = absences(samples, 0, 10'000, kPeriod);
  EXPECT_EQ(found.count, 1U);
  EXPECT_EQ(found.total_ns, 600U);
  EXPECT_EQ(found.longest_ns, 600U);
}

TEST(Absences, AForeignThreadMayHaveRunAPeriodBeforeAndAfter) {
  auto samples = every_period(10'000);
  samples[10].foreign = samples[11].foreign = true;
  samples[50].foreign = true;
  const auto found = absences(samples, 0, 10'000, kPeriod);
  EXPECT_EQ(found.count, 2U);
  EXPECT_EQ(found.total_ns, 300U + 200U);
  EXPECT_EQ(found.longest_ns, 300U);
}

TEST(Absences, OnlyWhatLiesWithinTheTimesCounts) {
  auto samples = every_period(10'000);
  for (std::size_t i = 0; i < 10; ++i) samples[i].foreign = true;
  EXPECT_EQ(absences(samples, 500, 10'000, kPeriod).total_ns, 500U);
  EXPECT_EQ(absences(samples, 1'000, 10'000, kPeriod).total_ns, 0U);
  EXPECT_EQ(absences(samples, 0, 300, kPeriod).total_ns, 300U);
}

TEST(Absences, NothingIsKnownWithoutALook) {
  EXPECT_EQ(absences({}, 0, 10'000, kPeriod).total_ns, 0U);
}

}  // namespace
}  // namespace natxy::watch
