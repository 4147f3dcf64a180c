// Tests that looks at a CPU give its absences.
#include "watch/absences.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "watch/placement.hpp"
#include "watch/scheduling.hpp"
#include "watch/switches.hpp"

namespace natxy::watch {
namespace {

constexpr std::uint64_t kPeriod = 100;

std::vector<Sample> every_period(std::uint64_t until) {
  std::vector<Sample> samples;
  for (std::uint64_t at = kPeriod; at <= until; at += kPeriod) samples.push_back({.at_ns = at});
  return samples;
}

Looks looks(const std::vector<Sample>& samples, std::uint64_t begin = 0) {
  Looks all(begin, kPeriod);
  for (const auto& sample : samples) all.add(sample, false);
  return all;
}

TEST(Absences, NoneWhereEveryLookCameAndSawTheGateway) {
  const auto occupant = looks(every_period(10'000)).absences(0, 10'000);
  EXPECT_EQ(occupant.samples, 100U);
  EXPECT_EQ(occupant.count, 0U);
  EXPECT_EQ(occupant.total_ns, 0U);
}

TEST(Absences, LooksThatFoundTheGatewayAreCounted) {
  auto samples = every_period(10'000);
  for (std::size_t at = 20; at < 80; ++at) samples[at].occupant = Occupant::kOther;
  samples[50].occupant = Occupant::kForeign;
  const auto all = looks(samples);
  EXPECT_EQ(all.absences(0, 10'000).samples, 100U);
  EXPECT_EQ(all.absences(0, 10'000).busy, 40U);
  EXPECT_EQ(all.absences(0, 20 * kPeriod).samples, 20U);
}

TEST(Absences, ALookThatCameLateIsTheHosts) {
  auto samples = every_period(10'000);
  samples.erase(samples.begin() + 19, samples.begin() + 24);  // no look from 2,000 to 2,400
  const auto occupant = looks(samples).absences(0, 10'000);
  EXPECT_EQ(occupant.samples, 95U);
  EXPECT_EQ(occupant.count, 1U);
  EXPECT_EQ(occupant.total_ns, 600U);
  EXPECT_EQ(occupant.longest_ns, 600U);
}

TEST(Absences, TheOneThatLastsToTheEndBeganAtTheLookBefore) {
  auto samples = every_period(10'000);
  for (std::size_t at = 79; at < samples.size(); ++at) samples[at].occupant = Occupant::kForeign;
  auto all = looks(samples);
  all.end(10'050);
  EXPECT_EQ(all.away_since(10'050), 7'900U);
  EXPECT_EQ(all.away_since(9'000), 7'900U);
  EXPECT_EQ(all.away_since(7'000), std::nullopt);
}

TEST(Absences, NoneLastsToTheEndIfTheGatewayCameBackOrRested) {
  auto samples = every_period(10'000);
  for (std::size_t at = 40; at < 90; ++at) samples[at].occupant = Occupant::kForeign;
  auto back = looks(samples);
  back.end(10'050);
  EXPECT_EQ(back.away_since(10'050), std::nullopt);
  EXPECT_EQ(back.away_since(8'000), 4'000U);
  for (auto& sample : samples) sample.occupant = Occupant::kOther;
  Looks resting(0, kPeriod);
  for (const auto& sample : samples) resting.add(sample, true);
  resting.end(10'050);
  EXPECT_EQ(resting.away_since(10'050), std::nullopt);
  EXPECT_EQ(Looks(0, kPeriod).away_since(10'050), std::nullopt);
}

TEST(Absences, AForeignThreadMayHaveRunAPeriodBeforeAndAfter) {
  auto samples = every_period(10'000);
  samples[10].occupant = samples[11].occupant = Occupant::kForeign;
  samples[50].occupant = Occupant::kForeign;
  const auto occupant = looks(samples).absences(0, 10'000);
  EXPECT_EQ(occupant.count, 2U);
  EXPECT_EQ(occupant.total_ns, 300U + 200U);
  EXPECT_EQ(occupant.longest_ns, 300U);
}

TEST(Absences, OnlyWhatLiesWithinTheTimesCounts) {
  auto samples = every_period(10'000);
  for (std::size_t i = 0; i < 9; ++i) samples[i].occupant = Occupant::kForeign;
  EXPECT_EQ(looks(samples).absences(500, 10'000).total_ns, 500U);
  EXPECT_EQ(looks(samples).absences(500, 10'000).samples, 95U);
  EXPECT_EQ(looks(samples).absences(1'000, 10'000).total_ns, 0U);
  EXPECT_EQ(looks(samples).absences(0, 300).total_ns, 300U);
}

TEST(Absences, ACpuThatIsAwayWhenLooksBeginOrEndIsSeen) {
  auto late = looks({{.at_ns = 5'000}, {.at_ns = 5'100}});
  EXPECT_EQ(late.absences(1'000, 5'100).total_ns, 4'000U) << "since the beginning";
  late.end(5'250);
  EXPECT_EQ(late.absences(5'000, 9'000).total_ns, 0U) << "a look may be half a period late";
  late.end(9'000);
  EXPECT_EQ(late.absences(5'000, 8'000).total_ns, 2'900U);
  EXPECT_EQ(late.absences(1'000, 9'000).count, 2U);
  EXPECT_EQ(late.absences(1'000, 9'000).samples, 2U);
}

TEST(Absences, ThatNoLookCameInAreAbsences) {
  auto none = looks({});
  EXPECT_EQ(none.absences(0, 10'000).total_ns, 0U);
  none.end(10'000);
  EXPECT_EQ(none.absences(0, 10'000).total_ns, 10'000U);
}

TEST(Absences, AreKnownExactlyFromSwitches) {
  Looks all(0, kPeriod);
  all.add({.at_ns = 100}, false);
  all.add_switch(130, Occupant::kGateway, Occupant::kForeign, false);
  all.add_switch(170, Occupant::kForeign, Occupant::kGateway, false);
  all.add({.at_ns = 200}, false);
  const auto occupant = all.absences(0, 200);
  EXPECT_EQ(occupant.count, 1U);
  EXPECT_EQ(occupant.total_ns, 40U);
  EXPECT_EQ(occupant.samples, 2U);
}

TEST(Absences, ACpuThatIsIdleNeedsNoLooks) {
  Looks all(0, kPeriod);
  all.add({.at_ns = 100}, false);
  all.add_switch(150, Occupant::kGateway, Occupant::kIdle, false);
  all.add_switch(5'000, Occupant::kIdle, Occupant::kGateway, false);
  all.add({.at_ns = 5'100}, false);
  all.add_switch(5'150, Occupant::kGateway, Occupant::kIdle, false);
  all.end(9'000);
  EXPECT_EQ(all.absences(0, 9'000).count, 0U);
}

TEST(Absences, TheHostIsSeenBetweenSwitchesToo) {
  Looks all(0, kPeriod);
  all.add({.at_ns = 100}, false);
  all.add_switch(900, Occupant::kGateway, Occupant::kIdle, false);
  EXPECT_EQ(all.absences(0, 900).total_ns, 800U);
}

TEST(Absences, NoneIsWhereTheKernelTakesNoLooksUntilItsTick) {
  Looks all(0, kPeriod);
  all.add({.at_ns = 100}, false);
  all.pause();
  all.add_switch(900, Occupant::kGateway, Occupant::kForeign, false);
  all.add_switch(950, Occupant::kForeign, Occupant::kGateway, false);
  all.add({.at_ns = 4'000}, false);
  EXPECT_EQ(all.absences(0, 4'000).total_ns, 50U) << "the records of switches count";
  all.add({.at_ns = 9'000}, false);
  EXPECT_EQ(all.absences(0, 9'000).total_ns, 5'050U) << "looks are taken again";
}

TEST(Absences, ABusyGatewayThatIsIdleForLongIsAway) {
  constexpr auto kRest = Looks::kLongestRestNs + 1;
  for (const bool was_busy : {false, true}) {
    Looks all(0, kPeriod);
    all.add({.at_ns = 100}, was_busy);
    all.add_switch(150, Occupant::kGateway, Occupant::kIdle, was_busy);
    all.add_switch(150 + kRest, Occupant::kIdle, Occupant::kGateway, was_busy);
    all.end(200 + kRest);
    EXPECT_EQ(all.absences(0, 200 + kRest).total_ns, was_busy ? kRest : 0U);
  }
}

TEST(Switches, WhateverRunsWhileTheGatewayIsPreemptedIsForeign) {
  const auto occupant = [](std::int32_t thread) {
    return thread == 0 ? Occupant::kIdle : thread < 10 ? Occupant::kGateway : Occupant::kOther;
  };
  Switches all;
  using Two = std::pair<Occupant, Occupant>;
  EXPECT_EQ(all.add({.at_ns = 10, .from = 1, .to = 20, .preempted = true}, occupant),
            Two(Occupant::kGateway, Occupant::kForeign));
  EXPECT_TRUE(all.gateway_waits());
  EXPECT_EQ(all.add({.at_ns = 20, .from = 20, .to = 21, .preempted = true}, occupant),
            Two(Occupant::kForeign, Occupant::kForeign));
  EXPECT_EQ(all.add({.at_ns = 30, .from = 21, .to = 1}, occupant),
            Two(Occupant::kForeign, Occupant::kGateway));
  EXPECT_FALSE(all.gateway_waits());
  EXPECT_EQ(all.add({.at_ns = 40, .from = 1, .to = 20}, occupant),
            Two(Occupant::kGateway, Occupant::kOther))
      << "the gateway went to sleep";
  EXPECT_EQ(all.add({.at_ns = 50, .from = 20, .to = 0}, occupant),
            Two(Occupant::kOther, Occupant::kIdle));
  EXPECT_EQ(all.known(Occupant::kGateway), Occupant::kIdle) << "a switch says more than a look";
}

TEST(Switches, AGatewayThatNeverRestsPolls) {
  const auto occupant = [](std::int32_t thread) {
    return thread == 0 ? Occupant::kIdle : thread < 10 ? Occupant::kGateway : Occupant::kOther;
  };
  Switches polls(1'000);
  EXPECT_EQ(polls.known(Occupant::kGateway), Occupant::kGateway);
  polls.add({.at_ns = 2'000, .from = 1, .to = 20, .preempted = true}, occupant);
  polls.add({.at_ns = 3'000, .from = 20, .to = 1}, occupant);
  EXPECT_TRUE(polls.is_polled(11'000)) << "another thread took the CPU from it";
  Switches rests(1'000);
  rests.add({.at_ns = 2'000, .from = 1, .to = 0}, occupant);
  EXPECT_FALSE(rests.is_polled(2'200));
  Switches idle(1'000);
  EXPECT_EQ(idle.known(Occupant::kOther), Occupant::kOther);
  EXPECT_FALSE(idle.is_polled(11'000));
}

TEST(Switches, TooManyAreMoreThanLooks) {
  Switches all(0);
  const auto occupant = [](std::int32_t) { return Occupant::kGateway; };
  for (std::uint64_t at = 1; at <= 2'000; ++at) all.add({.at_ns = at * 50'000}, occupant);
  EXPECT_TRUE(all.too_many(100'000'000)) << "20,000 a second";
  EXPECT_FALSE(all.too_many(300'000'000));
}

// Two threads on one CPU that hand over to each other.
void switch_often(int cpu, unsigned rounds) {
  std::atomic<bool> turn{false};
  const auto take_turns = [&](bool mine) {
    const OnCpu here(cpu);
    for (unsigned round = 0; round < rounds; ++round) {
      turn.wait(!mine);
      turn = !mine;
      turn.notify_one();
    }
  };
  std::thread other(take_turns, true);
  take_turns(false);
  other.join();
}

TEST(PerfRing, SaysThatTheKernelHasLeftOutRecords) {
  const int cpu = sched_getcpu();
  std::optional<PerfRing> ring;
  try {
    ring.emplace(switches_wanted(), cpu);
  } catch (const std::system_error&) {
    GTEST_SKIP() << "not for this user";
  }
  ring->enable();
  std::vector<Record> records;
  EXPECT_FALSE(ring->take(records)) << "there is room";
  switch_often(cpu, 20'000);
  EXPECT_TRUE(ring->take(records));
  const auto count = records.size();
  EXPECT_GT(count, 10'000U);
  EXPECT_EQ(records.back().type, std::uint32_t{PERF_RECORD_SWITCH_CPU_WIDE});
  EXPECT_GT(records.back().at_ns, records.front().at_ns);
  switch_often(cpu, 10);
  ring->disable();
  EXPECT_FALSE(ring->take(records));
  EXPECT_GT(records.size(), count) << "and goes on";
}

TEST(Absences, AreListedWithTheirTimesSinceTheBeginning) {
  auto samples = every_period(10'000);
  samples[29].occupant = Occupant::kForeign;                  // at 3,000
  samples.erase(samples.begin() + 49, samples.begin() + 54);  // no look from 5,000 to 5,400
  const auto occupant = looks(samples).absences(1'000, 5'300).list.list();
  ASSERT_EQ(occupant.size(), 2U);
  EXPECT_EQ(occupant[0].first, 1'900U);
  EXPECT_EQ(occupant[0].end, 2'100U);
  EXPECT_EQ(occupant[1].first, 3'900U);
  EXPECT_EQ(occupant[1].end, 4'300U) << "the last frame came in it";
}

TEST(Absences, AListHasABoundAndItsTimesAreAscending) {
  Looks all(0, kPeriod);
  for (std::uint64_t look = 1; look <= 60'000; ++look) {
    const auto foreign = look % 5 == 0;
    all.add(
        {.at_ns = look * kPeriod, .occupant = foreign ? Occupant::kForeign : Occupant::kGateway},
        false);
  }
  const auto occupant = all.absences(0, 60'000 * kPeriod);
  EXPECT_EQ(occupant.count, 12'000U);
  EXPECT_LE(occupant.list.list().size(), spec::Runs::kMost);
  std::uint64_t total = 0;
  std::uint64_t last = 0;
  for (const auto& absence : occupant.list.list()) {
    EXPECT_GT(absence.first, last);
    total += absence.count;
    last = absence.end;
  }
  EXPECT_EQ(total, occupant.total_ns);
}

constexpr std::uint64_t kMs = 1'000'000;

// Returns looks of 0.1 s. One in `seen_once_in` looks finds the gateway, except during a rest of
// `for_ms` from `from_ms` on.
Looks with_a_rest(std::uint64_t from_ms, std::uint64_t for_ms, std::uint64_t seen_once_in,
                  bool was_busy) {
  Looks all(0, kMs / 10);
  for (std::uint64_t look = 1; look <= 1000; ++look) {
    const auto at = look * kMs / 10;
    const bool rests = at >= from_ms * kMs && at <= (from_ms + for_ms) * kMs;
    const bool gateway = !rests && look % seen_once_in == 0;
    all.add({.at_ns = at, .occupant = gateway ? Occupant::kGateway : Occupant::kOther}, was_busy);
  }
  return all;
}

TEST(Absences, ARestThatIsTooLongForABusyGatewayIsOne) {
  const auto all = with_a_rest(30, 50, 2, true);
  const auto occupant = all.absences(0, 100 * kMs);
  EXPECT_EQ(occupant.count, 1U);
  EXPECT_GE(occupant.total_ns, 50 * kMs);
  EXPECT_LE(occupant.total_ns, 52 * kMs);
  EXPECT_EQ(occupant.samples, 1000U);
  EXPECT_EQ(all.absences(0, 60 * kMs).total_ns, 0U) << "the last frame came in it";
  EXPECT_EQ(all.absences(40 * kMs, 100 * kMs).total_ns, 0U) << "the first frame came in it";
}

TEST(Absences, AShorterRestIsNone) {
  const auto all = with_a_rest(30, 18, 2, true);
  EXPECT_EQ(all.absences(0, 100 * kMs).total_ns, 0U);
  EXPECT_EQ(all.absences(0, 100 * kMs).samples, 1000U);
}

// At 6,600 fps, one of a hundred looks finds a kernel's router; often none of two hundred does.
TEST(Absences, AGatewayThatIsSeldomSeenDoesNotRest) {
  EXPECT_EQ(with_a_rest(30, 50, 100, false).absences(0, 100 * kMs).total_ns, 0U);
  EXPECT_EQ(with_a_rest(30, 0, 400, false).absences(0, 100 * kMs).total_ns, 0U);
}

TEST(RecentLoad, IsBusyWhereOthersHaveLittleLeft) {
  RecentLoad load;
  const auto looks = [&load](unsigned gateway, unsigned other, unsigned foreign) {
    for (unsigned i = 0; i < gateway; ++i) load.add(Occupant::kGateway);
    for (unsigned i = 0; i < other; ++i) load.add(Occupant::kOther);
    for (unsigned i = 0; i < foreign; ++i) load.add(Occupant::kForeign);
  };
  looks(999, 0, 500);
  EXPECT_FALSE(load.busy()) << "nothing is known yet";
  looks(1, 0, 0);
  EXPECT_TRUE(load.busy());
  looks(699, 301, 0);
  EXPECT_FALSE(load.busy());
  looks(701, 299, 0);
  looks(0, 500, 0);
  EXPECT_TRUE(load.busy()) << "what is not whole does not count";
}

TEST(RecentLoad, ACpuThatIsIdleIsNotBusy) {
  RecentLoad load;
  for (unsigned i = 0; i < RecentLoad::kLooks; ++i) load.add(Occupant::kIdle);
  EXPECT_FALSE(load.busy());
}

TEST(Policies, ARealtimeGatewayLosesItsCpuToItsEqualsOnly) {
  EXPECT_FALSE(takes_away(Policy::kRealtime, Policy::kOrdinary));
  EXPECT_TRUE(takes_away(Policy::kRealtime, Policy::kRealtime));
  EXPECT_TRUE(takes_away(Policy::kOrdinary, Policy::kOrdinary));
  EXPECT_TRUE(takes_away(Policy::kOrdinary, Policy::kRealtime));
}

TEST(Policies, AThreadThatHasEndedMayHaveTakenTheCpu) {
  EXPECT_EQ(policy_of(0x7fffffff), Policy::kUnknown);
  EXPECT_TRUE(takes_away(Policy::kRealtime, Policy::kUnknown));
}

TEST(Policies, AreThoseOfTheScheduler) {
  EXPECT_EQ(policy_of(gettid()), Policy::kOrdinary);
  const sched_param lowest{};
  ASSERT_EQ(sched_setscheduler(0, SCHED_IDLE, &lowest), 0);
  EXPECT_EQ(policy_of(gettid()), Policy::kOrdinary);
  const sched_param first{.sched_priority = 1};
  if (sched_setscheduler(0, SCHED_FIFO, &first) != 0) GTEST_SKIP() << "not for this user";
  EXPECT_EQ(policy_of(gettid()), Policy::kRealtime);
  GatewayThreads realtime({gettid()});
  EXPECT_EQ(realtime.occupant(gettid()), Occupant::kGateway);
  EXPECT_EQ(realtime.occupant(1), Occupant::kOther) << "init is an ordinary process";
  EXPECT_EQ(realtime.occupant(0x7fffffff), Occupant::kForeign);
  ASSERT_EQ(sched_setscheduler(0, SCHED_OTHER, &lowest), 0);
  GatewayThreads ordinary({gettid()});
  EXPECT_EQ(ordinary.occupant(gettid()), Occupant::kGateway);
  EXPECT_EQ(ordinary.occupant(1), Occupant::kForeign);
}

TEST(Policies, TheThreadThatTakesTheCpuMostIsNamed) {
  GatewayThreads threads({gettid()});
  EXPECT_EQ(threads.taker().who, "");
  for (const auto thread : {1, 2, 2, static_cast<int>(gettid())}) {
    EXPECT_EQ(threads.occupant(thread) == Occupant::kGateway, thread == gettid());
    threads.found(thread);
  }
  EXPECT_EQ(threads.occupant(0x7fffffff), Occupant::kForeign);
  EXPECT_EQ(threads.taker().who, name_of(2) + " (2)");
  EXPECT_EQ(threads.taker().looks, 2U);
  for (int look = 0; look < 3; ++look) threads.found(0x7fffffff);
  EXPECT_EQ(threads.taker().who, "a thread (2147483647)") << "it has ended";
}

// Lets the calling thread run before those of other programs, where it may: the two threads of a
// gauge must run at the same time, and four busy programs on two CPUs kept them apart for minutes.
class Preferred {
 public:
  Preferred() { (void)setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), -20); }
  Preferred(const Preferred&) = delete;
  Preferred& operator=(const Preferred&) = delete;
  ~Preferred() { (void)setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 0); }
};

// Measures again and again, for up to a minute: a thread that waits for its CPU does not answer.
Placement known(PlacementGauge& gauge) {
  const Preferred preferred;
  Placement placement;
  for (int attempt = 0; attempt < 5000; ++attempt) {
    placement = gauge.measure();
    if (placement.is_known()) break;
  }
  return placement;
}

std::jthread answering(PlacementGauge& gauge) {
  return std::jthread([&gauge](const std::stop_token& stop) {
    const Preferred preferred;
    while (!stop.stop_requested()) gauge.answer();
  });
}

TEST(Placements, AreMeasuredWithAThreadThatAnswers) {
  PlacementGauge gauge;
  const auto other = answering(gauge);
  const auto placement = known(gauge);
  EXPECT_GT(placement.round_trip_ns, 0U);
  EXPECT_LT(placement.round_trip_ns, 1'000'000U);
  EXPECT_GT(placement.pace.work_ns, 500U) << "12,000 additions in 2,000 steps";
  EXPECT_LT(placement.pace.work_ns, 100'000'000U);
  EXPECT_GT(placement.pace.chain_ns, 200U) << "1,000 multiplications one after another";
  EXPECT_LT(placement.pace.chain_ns, 100'000'000U);
}

TEST(Placements, AreUnknownIfNobodyAnswers) {
  PlacementGauge gauge;
  const auto begin = std::chrono::steady_clock::now();
  const auto placement = gauge.measure();
  EXPECT_EQ(placement.round_trip_ns, 0U);
  EXPECT_EQ(placement.pace.work_ns, 0U);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(12));
}

// Where other programs use all CPUs, it takes seconds until both threads run at the same time.
TEST(Placements, AreMeasuredWhereTheOtherCpuWasAwayForAMoment) {
  PlacementGauge gauge(std::chrono::seconds(30));
  const Preferred preferred;  // the other thread inherits it
  const std::jthread late([&gauge](const std::stop_token& stop) {
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    while (!stop.stop_requested()) gauge.answer();
  });
  EXPECT_TRUE(gauge.measure().is_known());
}

TEST(Placements, AreMeasuredAfterAnAnswerThatCameLate) {
  PlacementGauge gauge;
  EXPECT_EQ(gauge.measure().pace.work_ns, 0U);
  gauge.answer();
  const auto other = answering(gauge);
  const auto placement = known(gauge);
  EXPECT_GT(placement.round_trip_ns, 0U);
  EXPECT_GT(placement.pace.work_ns, 0U);
}

TEST(Placements, TheWorseOneCounts) {
  Placement placement{.round_trip_ns = 50, .pace = {.work_ns = 4000, .chain_ns = 1000}};
  placement.add({.round_trip_ns = 300, .pace = {.work_ns = 2000, .chain_ns = 1000}});
  EXPECT_EQ(placement.round_trip_ns, 300U);
  EXPECT_EQ(placement.pace.work_ns, 4000U);
}

TEST(Placements, ASlowerClockIsNotOtherWork) {
  Placement placement{.pace = {.work_ns = 3000, .chain_ns = 1000}};
  placement.add({.pace = {.work_ns = 4000, .chain_ns = 2000}});
  EXPECT_EQ(placement.pace.work_ns, 3000U);
  placement.add({});
  EXPECT_EQ(placement.pace.work_ns, 3000U) << "what is unknown is not worse";
  Placement unknown;
  unknown.add(placement);
  EXPECT_EQ(unknown.pace.chain_ns, 1000U);
}

}  // namespace
}  // namespace natxy::watch
