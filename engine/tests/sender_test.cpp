// Tests the sender over fake ports: pacing, pauses, refusals, shares.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "loop.hpp"

namespace natxy::run {
namespace {

using tests::FakeClock;
using tests::kStart;
using tests::Loop;
using tests::MixedLoop;
using tests::stream_of;
using tests::TestReceiver;
using tests::TestSender;

// Returns a spec with a thousand frames in ten seconds.
class LongLoop : public Loop {
 protected:
  LongLoop() : Loop(stream_of(1000, 100)) {}
};

TEST_F(Loop, NoFrameLeavesEarlyAndLatenessIsRecorded) {
  const auto sent = send_all(10);
  EXPECT_EQ(sent.largest_burst, 1U);
  EXPECT_LE(sent.lateness.max(), 10U);
  EXPECT_EQ(sent.lateness.count(), 1000U);
  EXPECT_GE(sent.first_departure, 100U);
  EXPECT_GE(sent.last_departure, 100U + 999'000U);
}

TEST_F(Loop, ALateSenderCatchesUpInBurstsAndSaysSo) {
  const auto sent = send_all(20'000);
  EXPECT_EQ(sent.largest_burst, 20U);
  EXPECT_GE(sent.lateness.max(), 19'000U);
}

// 1,000 frames at 1 Mfps. After 100 of them, the sender's core is away for 300 us. The burst limit
// is 128 frames, so the sender pauses, and no two frames are closer than a microsecond.
TEST_F(Loop, ASenderThatIsFarBehindMovesItsSchedule) {
  TestSender sender(plan_, {}, tx_, control_, {.limit = 128'000});
  sender.begin(kStart);
  std::vector<Ticks> left;
  while (!control_.draining()) {
    const auto before = wire_.size();
    sender.step(FakeClock::time);
    for (auto n = wire_.size(); n > before; --n) left.push_back(FakeClock::time);
    FakeClock::time += left.size() == 100 && FakeClock::time < 150'000 ? 300'000 : 50;
  }
  const auto& sent = sender.report();
  ASSERT_EQ(left.size(), 1000U);
  for (std::size_t i = 1; i < left.size(); ++i) EXPECT_GE(left[i] - left[i - 1], 950U) << i;
  EXPECT_EQ(sent.pauses, 1U);
  EXPECT_NEAR(static_cast<double>(sent.paused), 299'000.0, 1'100.0);
  EXPECT_EQ(sent.longest_pause, sent.paused);
  EXPECT_LE(sent.lateness.max(), 50U) << "by the schedule as it is now";
  EXPECT_EQ(sent.largest_burst, 1U);
  ASSERT_EQ(sent.pauses_at[0].list().size(), 1U);
  EXPECT_EQ(sent.pauses_at[0].list()[0].first, 100U);
  EXPECT_EQ(sent.pauses_at[0].list()[0].count, sent.paused);
  EXPECT_TRUE(sent.pauses_at[1].list().empty()) << "the port has refused nothing";
  EXPECT_GE(control_.paused(), sent.paused);
  EXPECT_GE(control_.end(), kStart + 1'000'000 + sent.paused) << "the trial is longer by that";
}

// The departure time in a frame's stamp is correct after a pause too.
TEST_F(Loop, DelaysStayRightWhereTheSenderHasPaused) {
  TestSender sender(plan_, {}, tx_, control_, {.limit = 128'000});
  TestReceiver receiver(&plan_, setup(), rx_);
  sender.begin(kStart);
  receiver.begin(kStart);
  for (unsigned steps = 0; !control_.draining(); ++steps) {
    sender.step(FakeClock::time);
    FakeClock::time += 40;
    receiver.step(FakeClock::time);
    if (steps % 5000 == 4999) FakeClock::time += 200'000;
  }
  EXPECT_GT(sender.report().pauses, 2U);
  EXPECT_EQ(receiver.report().kinds[0].received, 1000U);
  EXPECT_EQ(receiver.report().kinds[0].delay.buckets().min, 40U);
  EXPECT_EQ(receiver.report().kinds[0].delay.buckets().max, 40U);
}

TEST_F(Loop, ASenderThatIsALittleBehindCatchesUp) {
  TestSender sender(plan_, {}, tx_, control_, {.limit = 128'000});
  sender.begin(kStart);
  for (bool away = false; !control_.draining(); FakeClock::time += 10) {
    sender.step(FakeClock::time);
    if (!away && FakeClock::time > 500'000) FakeClock::time += 100'000;
    away = FakeClock::time > 500'000;
  }
  EXPECT_EQ(sender.report().pauses, 0U);
  EXPECT_GE(sender.report().largest_burst, 100U) << "over several send calls of 32";
  EXPECT_LE(sender.report().largest_burst, 102U);
}

// At 1 Mfps, the sender's core is away for 100 us. The first 51 of the frames that were due
// meanwhile leave more than 50 us late.
TEST_F(Loop, NumbersThatLeaveLateAreTold) {
  TestSender sender(plan_, {}, tx_, control_, {.limit = 128'000, .late = 50'000});
  sender.begin(kStart);
  for (bool away = false; !control_.draining(); FakeClock::time += 10) {
    sender.step(FakeClock::time);
    if (away || sender.progress() < 300) continue;
    away = true;
    FakeClock::time = kStart + plan_.schedule.due(400);
  }
  const auto sent = sender.report();
  ASSERT_EQ(sent.late_runs.list().size(), 1U);
  EXPECT_EQ(sent.late_runs.list()[0].first, 300U);
  EXPECT_EQ(sent.late_runs.list()[0].count, 51U);
  EXPECT_EQ(sent.late_runs.list()[0].end, 351U);
  EXPECT_TRUE(sent.pauses_at[0].list().empty());
}

// The port accepts nothing for 300 us.
TEST_F(Loop, APauseAfterARefusalIsThePorts) {
  tx_.accept = [this](unsigned n) {
    const auto due = kStart + plan_.schedule.due(200);
    return FakeClock::time >= due && FakeClock::time < due + 300'000 ? 0U : n;
  };
  const auto sent = send_all(50, {.limit = 128'000, .late = 50'000});
  EXPECT_TRUE(sent.pauses_at[0].list().empty());
  ASSERT_EQ(sent.pauses_at[1].list().size(), 1U) << "all before the same number";
  EXPECT_EQ(sent.pauses_at[1].list()[0].first, 200U);
  EXPECT_EQ(sent.pauses_at[1].list()[0].count, sent.paused);
  EXPECT_EQ(sent.pauses, 2U);
}

// Two senders take turns with the numbers, and one of them is away twice. The due time of each
// number follows from its segment and the pauses of its sender.
TEST_F(Loop, DueTimesFollowFromThePausesOfEachSender) {
  std::atomic<bool> cancelled{false};
  Control control(2, 1000, cancelled);
  TestSender even(plan_, {0, 2}, tx_, control, {.limit = 20'000});
  TestSender odd(plan_, {1, 2}, tx_, control, {.limit = 20'000});
  even.begin(kStart);
  odd.begin(kStart);
  std::vector<Ticks> left(1000, 0);
  const auto step = [&](TestSender& sender, std::uint64_t first) {
    const auto before = sender.progress();
    sender.step(FakeClock::time);
    for (auto i = before; i < sender.progress(); ++i) left[first + 2 * i] = FakeClock::time;
  };
  for (; !control.draining(); FakeClock::time += 10) {
    step(even, 0);
    const auto away = FakeClock::time % 400'000 > 150'000 && FakeClock::time % 400'000 < 200'000;
    if (!away) step(odd, 1);
  }
  auto sent = even.report();
  EXPECT_EQ(sent.pauses, 0U);
  merge(sent, odd.report());
  ASSERT_GE(sent.pauses_at[0].list().size(), 2U);
  for (std::uint64_t number = 0; number < 1000; ++number) {
    auto due = kStart + plan_.schedule.due(number);
    for (const auto& pause : sent.pauses_at[0].list()) {
      if (pause.first <= number && pause.first % 2 == number % 2) due += pause.count;
    }
    EXPECT_GE(left[number], due) << number;
    EXPECT_LE(left[number], due + 10) << number;
  }
}

TEST_F(Loop, ASenderThatPausesForEverGivesUp) {
  tx_.accept = [](unsigned) { return 0U; };
  const auto sent = send_all(1000, {.limit = 5'000, .give_up = 50'000});
  EXPECT_EQ(sent.gave_up, GaveUp::kRefused);
  EXPECT_LE(FakeClock::time, 100'000U);
}

// The sender is off its core for two thirds of the time.
TEST_F(Loop, ASenderThatPausesForMostOfTheTimeGivesUp) {
  TestSender sender(plan_, {}, tx_, control_, {.limit = 5'000, .give_up = 50'000});
  sender.begin(kStart);
  while (!control_.draining()) {
    const auto before = sender.progress();
    sender.step(FakeClock::time);
    FakeClock::time += sender.progress() / 10 > before / 10 ? 20'000 : 50;
  }
  EXPECT_EQ(sender.report().gave_up, GaveUp::kBehind);
  EXPECT_GT(sender.report().sent[0], 0U);
  EXPECT_LT(sender.report().sent[0], 1000U);
}

// Pauses of a tenth of a long trial exceed the 32 bits of a stamp, but the sender does not give up.
// Each delay is correct, and each record has its frame's departure time.
TEST_F(LongLoop, PausesMayBeLongerThanAStampCanSay) {
  constexpr Ticks kAway = 300'000'000;  // 40 times, seven in each base
  SentNumbers numbers;
  TestSender sender(plan_, {}, tx_, control_, {.limit = 10'000'000});
  numbers.add(sender.sent(), &sender.bases());
  RecordRing records;
  records.allocate();
  auto long_pauses = setup();
  long_pauses.control = &control_;
  long_pauses.sent = &numbers;
  long_pauses.records = &records;
  TestReceiver receiver(&plan_, long_pauses, rx_);
  sender.begin(kStart);
  receiver.begin(kStart);
  std::vector<Ticks> left;
  for (Ticks away = 0; !control_.draining();) {
    const auto before = wire_.size();
    sender.step(FakeClock::time);
    for (auto n = wire_.size(); n > before; --n) left.push_back(FakeClock::time - kStart);
    const bool pauses = left.size() / 25 > away;
    away += pauses;
    FakeClock::time += 4000;
    receiver.step(FakeClock::time);
    FakeClock::time += pauses ? kAway : 996'000;
  }
  EXPECT_EQ(sender.report().gave_up, GaveUp::kNo);
  EXPECT_GT(sender.report().paused, 4 * StampBases::kStep);
  EXPECT_EQ(receiver.report().kinds[0].received, 1000U);
  EXPECT_EQ(receiver.report().kinds[0].delay.buckets().min, 4000U);
  EXPECT_EQ(receiver.report().kinds[0].delay.buckets().max, 4000U);
  std::vector<Ticks> recorded;
  while (records.take([&](const FrameRecord* first, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) recorded.push_back(first[i].departure);
  }) > 0) {
  }
  EXPECT_EQ(recorded, left);
}

TEST(StampBases, AnOldFrameIsStillVeryLate) {
  StampBases bases;
  EXPECT_EQ(bases.at(7), 0U);
  for (std::uint64_t i = 1; i <= 40; ++i) bases.set(100 * i, i * StampBases::kStep);
  EXPECT_EQ(bases.at(4000), 40 * StampBases::kStep);
  EXPECT_EQ(bases.at(3999), 39 * StampBases::kStep);
  EXPECT_EQ(bases.at(2600), 26 * StampBases::kStep);
  EXPECT_EQ(bases.at(0), 25 * StampBases::kStep) << "15 are kept";
}

TEST_F(Loop, AFullPortIsTriedAgainAndStampedAgain) {
  tx_.accept = [calls = 0](unsigned n) mutable { return calls++ % 3 == 0 ? (n + 1) / 2 : 0; };
  const auto sent = send_all(700);
  const auto seen = receive_all(setup());
  EXPECT_GT(sent.refused_by_port, 0U);
  EXPECT_EQ(sent.refused_by_gateway, 0U);
  EXPECT_EQ(sent.sent[0], 1000U);
  EXPECT_EQ(seen.kinds[0].received, 1000U);
  EXPECT_EQ(sent.lateness.count(), 1000U);
  EXPECT_GT(sent.lateness.max(), 1500U);
}

TEST_F(Loop, AFullGatewayHasLostTheFrame) {
  tx_.gateways_fault = true;
  tx_.accept = [calls = 0](unsigned n) mutable { return ++calls % 10 == 0 ? 0 : n; };
  const auto sent = send_all(10);
  const auto seen = receive_all(setup());
  EXPECT_EQ(sent.sent[0], 1000U);
  EXPECT_EQ(sent.refused_by_gateway, 100U);
  EXPECT_EQ(seen.kinds[0].received, 900U);
  EXPECT_LE(sent.lateness.max(), 10U);
}

TEST_F(Loop, AStalledPortEndsTheSending) {
  tx_.accept = [](unsigned) { return 0U; };
  const auto sent = send_all(1000, {.give_up = 50'000});
  EXPECT_EQ(sent.gave_up, GaveUp::kRefused);
  EXPECT_EQ(sent.sent[0], 0U);
}

TEST_F(Loop, AnEmptyPoolIsThePortsRefusal) {
  tx_.pool_size = 4;
  const auto sent = send_all(20'000, {.give_up = 500'000});
  EXPECT_EQ(sent.gave_up, GaveUp::kRefused);
  EXPECT_GT(sent.refused_by_port, 0U);
}

TEST_F(MixedLoop, SeveralSendersShareADirectionWithoutARest) {
  std::atomic<bool> cancelled{false};
  Control control(3, 1000, cancelled);
  std::vector<std::unique_ptr<TestSender>> senders;
  for (unsigned i = 0; i < 3; ++i) {
    senders.push_back(std::make_unique<TestSender>(plan_, Share{i, 3}, tx_, control));
    senders.back()->begin(kStart);
  }
  while (!control.draining()) {
    for (auto& sender : senders) sender->step(FakeClock::time);
    FakeClock::time += 7000;
  }
  auto three = setup();
  three.senders = 3;
  const auto seen = receive_all(three);
  EXPECT_EQ(seen.kinds[0].received + seen.kinds[1].received, 1000U);
  EXPECT_EQ(seen.kinds[0].reordered + seen.kinds[1].reordered, 0U);
}

}  // namespace
}  // namespace natxy::run
