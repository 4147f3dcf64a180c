// Tests PortClock with fake clocks that are known functions of the time stamp counter.
#include "port/port_clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <thread>

#include "port/machine.hpp"

namespace natxy::port {
namespace {

using run::Ticks;
using run::TscClock;

run::TickRate tick_rate() {
  static const run::TickRate rate(TscRate().hz());
  return rate;
}

// A clock with a given rate and start value. A test may set it.
struct FakePortClock {
  double units_per_tick;
  std::uint64_t first = 0xffff'fff0'0000'0000;  // it wraps around at 2^64 during a test
  Ticks begin = TscClock::now();
  bool broken = false;

  static FakePortClock of(double hz) {
    return {.units_per_tick = hz / static_cast<double>(tick_rate().hz())};
  }
  [[nodiscard]] std::uint64_t at(Ticks ticks) const {
    const auto since = static_cast<double>(static_cast<std::int64_t>(ticks - begin));
    return first + static_cast<std::uint64_t>(
                       static_cast<std::int64_t>(std::floor(since * units_per_tick)));
  }
  [[nodiscard]] PortClock::Read reader() const {
    return [this]() -> std::optional<std::uint64_t> {
      if (broken) return std::nullopt;
      return at(TscClock::now());
    };
  }
};

void sleep_ms(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

double off_ns(const PortClock& clock, const FakePortClock& truth, Ticks ticks) {
  const auto off = static_cast<std::int64_t>(clock.ticks_at(truth.at(ticks)) - ticks);
  return std::abs(tick_rate().to_ns(static_cast<double>(off)));
}

double ns(Ticks ticks) {
  return tick_rate().to_ns(static_cast<double>(ticks));
}

class OfRate : public testing::TestWithParam<double> {};

// Rates of a NIC's raw counter, of PTP (nanoseconds), of the kernel (microseconds), and of a
// counter that is faster than the processor's.
TEST_P(OfRate, WhatItShowedIsKnownWithinTheErrorThatIsTold) {
  const auto truth = FakePortClock::of(GetParam());
  auto clock = PortClock::of(truth.reader(), tick_rate());
  ASSERT_TRUE(clock);
  clock->settle();
  (void)clock->take_error();
  double worst_ns = 0;
  for (int i = 0; i < 30; ++i) {
    sleep_ms(10);
    const auto now = TscClock::now();
    worst_ns = std::max(worst_ns, off_ns(*clock, truth, now - tick_rate().from_ns(5000)));
    clock->tend(now);
  }
  const auto error_ns = ns(clock->take_error());
  EXPECT_LE(worst_ns, error_ns);
  EXPECT_LT(error_ns, 20'000 + 2e9 / GetParam()) << "a busy machine; alone it is below 1000";
}

INSTANTIATE_TEST_SUITE_P(Hz, OfRate, testing::Values(156.25e6, 1e9, 1e6, 7.9e9));

TEST(PortClock, ADriftIsFollowedAndIsPartOfTheError) {
  auto truth = FakePortClock::of(1e9);
  auto clock = PortClock::of(truth.reader(), tick_rate());
  ASSERT_TRUE(clock);
  clock->settle();
  (void)clock->take_error();
  const auto turn = TscClock::now();
  truth.first = truth.at(turn);  // from here on 2000 ppm faster, more than any crystal
  truth.begin = turn;
  truth.units_per_tick *= 1.002;
  sleep_ms(110);
  clock->tend(TscClock::now());
  EXPECT_GT(ns(clock->take_error()), 200'000) << "of 110 ms";
  sleep_ms(110);
  EXPECT_LT(ns(clock->take_error()), 200'000);
}

TEST(PortClock, AClockThatIsSetIsAnErrorOnce) {
  auto truth = FakePortClock::of(1e9);
  auto clock = PortClock::of(truth.reader(), tick_rate());
  ASSERT_TRUE(clock);
  clock->settle();
  (void)clock->take_error();
  truth.first += 3'600'000'000'000;  // an hour
  EXPECT_GT(ns(clock->take_error()), 3.5e12);
  sleep_ms(10);
  EXPECT_LT(ns(clock->take_error()), 50'000);
  EXPECT_LT(off_ns(*clock, truth, TscClock::now()), 50'000);
}

TEST(PortClock, AClockThatIsSetBackIsAnErrorToo) {
  auto truth = FakePortClock::of(1e9);
  auto clock = PortClock::of(truth.reader(), tick_rate());
  ASSERT_TRUE(clock);
  clock->settle();
  truth.first -= 5'000'000'000;
  EXPECT_GT(ns(clock->take_error()), 4.9e9);
  EXPECT_LT(ns(clock->take_error()), 50'000);
}

TEST(PortClock, WhatCannotBeReadOrStandsStillIsNone) {
  EXPECT_FALSE(PortClock::of([] { return std::optional<std::uint64_t>(); }, tick_rate()));
  EXPECT_FALSE(PortClock::of([] { return std::optional<std::uint64_t>(7); }, tick_rate()));
}

TEST(PortClock, OneThatBreaksIsKnownToNothing) {
  auto truth = FakePortClock::of(1e9);
  auto clock = PortClock::of(truth.reader(), tick_rate());
  ASSERT_TRUE(clock);
  truth.broken = true;
  clock->settle();  // must end
  EXPECT_EQ(clock->take_error(), run::kNever);
}

TEST(PortClock, IsReadOnlyWhenItIsDue) {
  unsigned reads = 0;
  const auto truth = FakePortClock::of(1e9);
  auto clock = PortClock::of(
      [&] {
        ++reads;
        return std::optional(truth.at(TscClock::now()));
      },
      tick_rate());
  ASSERT_TRUE(clock);
  const auto before = reads;
  for (int i = 0; i < 1000; ++i) clock->tend(TscClock::now());
  EXPECT_LE(reads - before, 3U) << "a reading stalls the worker";
}

}  // namespace
}  // namespace natxy::port
