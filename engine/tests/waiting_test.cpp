// Tests what the receiver says about time: delays, late frames, and how long frames may have waited
// for a poll.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "loop.hpp"

namespace natxy::run {
namespace {

using tests::FakeClock;
using tests::kStart;
using tests::Loop;
using tests::MixedLoop;
using tests::TestReceiver;
using tests::TestSender;

TEST_F(Loop, HowLongAFrameMayHaveWaitedForThePollIsRecorded) {
  TestSender sender(plan_, {}, tx_, control_);
  TestReceiver receiver(&plan_, setup(), rx_);
  sender.begin(kStart);
  receiver.begin(kStart);
  for (bool was_away = false; !control_.draining();) {
    sender.step(FakeClock::time);
    const bool left = wire_.size() > 0;
    receiver.step(FakeClock::time);
    const bool away = left && !was_away && sender.progress() > 500;
    was_away |= away;
    FakeClock::time += away ? 70'000 : 100;
  }
  const auto gaps = receiver.report().poll_gap;
  EXPECT_EQ(gaps.count(), 1000U);
  EXPECT_GE(gaps.max(), 70'000U);
  EXPECT_LE(gaps.min(), 200U);
  EXPECT_EQ(sender.report().step_gap.max(), 70'000U);
}

TEST_F(Loop, FramesThatWereThereBeforeTheStartHaveWaitedForNoPoll) {
  TestSender sender(plan_, {}, tx_, control_);
  TestReceiver receiver(&plan_, setup(), rx_);
  sender.begin(kStart);
  FakeClock::time = kStart;
  sender.step(FakeClock::time);
  receiver.begin(kStart + 1'000'000);
  receiver.step(FakeClock::time);
  EXPECT_GT(receiver.report().poll_gap.count(), 0U);
  EXPECT_EQ(receiver.report().poll_gap.max(), 0U);
}

// Ten tags among the last 500 frames: an absence affects another share of them than of all frames.
TEST_F(Loop, HowLongTaggedFramesMayHaveWaitedIsRecordedApart) {
  const TagPlan tags(plan_.schedule, 500'000, 10);
  auto with_tags = setup();
  with_tags.tags = tags;
  tx_.accept = [](unsigned n) {
    FakeClock::time += 40;  // the send call
    return n;
  };
  TestSender sender(plan_, {}, tx_, control_, {}, tags);
  TestReceiver receiver(&plan_, with_tags, rx_);
  sender.begin(kStart);
  receiver.begin(kStart);
  for (bool was_away = false; !control_.draining();) {
    sender.step(FakeClock::time);
    receiver.step(FakeClock::time);
    const bool away = !was_away && sender.progress() > 600;
    was_away |= away;
    FakeClock::time += away ? 150'000 : 100;
  }
  receiver.step(FakeClock::time);
  const auto arrived = receiver.report().tags;
  ASSERT_EQ(arrived.size(), 10U);
  EXPECT_GE(std::ranges::max(arrived, {}, &TagArrival::poll_gap).poll_gap, 150'000U)
      << "150 frames, three or four of them tagged";
  const auto left = sender.report().tags;
  ASSERT_EQ(left.size(), 10U);
  for (std::size_t tag = 0; tag < 10; ++tag) {
    EXPECT_EQ(arrived[tag].number, tags.number(tag));
    EXPECT_EQ(left[tag].number, tags.number(tag));
    EXPECT_EQ(left[tag].leaving, 40U);
  }
}

// 400 of 1,000 frames are on their way when the ring of 256 is polled again.
TEST_F(Loop, ARingThatMayHaveBeenFullIsTold) {
  const auto overrun = [&](unsigned ring_frames) {
    std::atomic<std::uint64_t> sent{400};
    SentNumbers numbers;
    numbers.add(sent);
    auto ring = setup();
    ring.sent = &numbers;
    ring.ring_frames = ring_frames;
    TestReceiver receiver(&plan_, ring, rx_);
    receiver.begin(kStart);
    FakeClock::time = kStart + 5'000'000;
    while (receiver.step(FakeClock::time)) {
    }
    return receiver.report().overrun_frames;
  };
  send_all(10);
  auto frames = drain_wire();
  frames.resize(400);
  put(frames);
  EXPECT_EQ(overrun(256), 400U);
  put(frames);
  EXPECT_EQ(overrun(512), 0U);
  frames.resize(100);  // the others were lost before the ring, which was never full
  put(frames);
  EXPECT_EQ(overrun(256), 0U);
}

// 280 frames arrive while the core is away between the reading of the clock and the receive call;
// 24 of them find the ring of 256 full.
TEST_F(Loop, AnAbsenceLastsUntilAfterTheReceiveCall) {
  std::atomic<std::uint64_t> sent{280};
  SentNumbers numbers;
  numbers.add(sent);
  auto ring = setup();
  ring.sent = &numbers;
  ring.ring_frames = 256;
  ring.long_absence = 1'000'000;
  send_all(10);
  auto frames = drain_wire();
  frames.resize(256);
  FakeClock::time = kStart;
  rx_.before_receive = [&, was_away = false]() mutable {
    if (std::exchange(was_away, true)) return;
    FakeClock::time += 5'000'000;
    put(frames);
  };
  TestReceiver receiver(&plan_, ring, rx_);
  receiver.begin(kStart);
  while (receiver.step(FakeClock::time)) {
  }
  EXPECT_EQ(receiver.report().kinds[0].received, 256U);
  EXPECT_EQ(receiver.report().overrun_frames, 280U);
  EXPECT_GE(receiver.report().poll_gap.max(), 5'000'000U);
}

// The gateway changes the address of each frame. Defective frames must not count as an overrun.
TEST_F(Loop, FramesThatComeWrongNoLongerWait) {
  std::atomic<std::uint64_t> sent{0};
  SentNumbers numbers;
  numbers.add(sent);
  auto ring = setup();
  ring.sent = &numbers;
  ring.ring_frames = 256;
  send_all(10);
  const auto frames = drain_wire();
  TestReceiver receiver(&plan_, ring, rx_);
  receiver.begin(kStart);
  for (std::size_t lot = 0; lot < 5; ++lot) {  // 200 at a time: fewer than the ring holds
    for (std::size_t i = lot * 200; i < (lot + 1) * 200; ++i) {
      auto frame = frames[i];
      frame[29] ^= 1;  // an address, and the checksum is wrong then
      wire_.put(frame);
    }
    sent = (lot + 1) * 200;
    FakeClock::time += 5'000'000;
    while (receiver.step(FakeClock::time)) {
    }
  }
  EXPECT_EQ(receiver.report().overrun_frames, 0U);
  EXPECT_EQ(receiver.report().kinds[0].received, 0U);
}

// A number whose sender is late has not been lost.
TEST_F(Loop, AnEarlyEndWaitsForASenderThatWasAway) {
  std::atomic<std::uint64_t> sent{500};
  SentNumbers numbers;
  numbers.add(sent);
  send_all(10);
  auto frames = drain_wire();
  frames.resize(500);
  put(frames);
  auto early = setup();
  early.early_end = 10'000;
  early.sent = &numbers;
  early.control = &control_;
  TestReceiver receiver(&plan_, early, rx_);
  receiver.begin(kStart);
  for (Ticks at = kStart; at < 2'000'000; at += 1000) receiver.step(at);
  EXPECT_FALSE(control_.ended_early());
  sent = 501;
  for (Ticks at = 2'000'000; at < 2'100'000; at += 1000) receiver.step(at);
  EXPECT_TRUE(control_.ended_early());
}

TEST_F(Loop, AFrameTimeoutMakesFramesLate) {
  send_all(10);
  auto strict = setup();
  strict.frame_timeout = 500'000;
  const auto seen = receive_all(strict);  // all are received at the end, a millisecond later
  EXPECT_GT(seen.kinds[0].late, 400U);
  EXPECT_EQ(seen.kinds[0].late + seen.kinds[0].received, 1000U);
}

TEST_F(Loop, ADelayIsFromTheStampToTheReceiveCall) {
  TestSender sender(plan_, {}, tx_, control_);
  TestReceiver receiver(&plan_, setup(), rx_);
  sender.begin(kStart);
  receiver.begin(kStart);
  while (!control_.draining()) {
    sender.step(FakeClock::time);
    FakeClock::time += 40;
    receiver.step(FakeClock::time);
  }
  EXPECT_EQ(receiver.report().kinds[0].received, 1000U);
  EXPECT_EQ(receiver.report().kinds[0].delay.buckets().min, 40U);
  EXPECT_EQ(receiver.report().kinds[0].delay.buckets().max, 40U);
}

// Tests the growth of a queue with delays that grow, that are long, and that vary.
TEST_F(Loop, OnlyAQueueThatGrowsMakesTheShortestDelayLonger) {
  send_all(10);
  const auto frames = drain_wire();
  const auto growth = [&](const std::function<Ticks(std::uint64_t)>& delay) {
    Arrivals arrivals(tests::kWindow);
    auto own = setup();
    own.arrivals = &arrivals;
    TestReceiver receiver(&plan_, own, rx_);
    receiver.begin(kStart);
    for (std::uint64_t number = 0; number < frames.size(); ++number) {
      wire_.put(frames[number]);
      FakeClock::time = kStart + plan_.schedule.due(number) + 10 + delay(number);
      receiver.step(FakeClock::time);
    }
    EXPECT_EQ(receiver.report().kinds[0].received, 1000U);
    return receiver.report().kinds[0].shortest.growth();
  };
  const auto varies = [](std::uint64_t number) { return number * 7919 % 900; };
  EXPECT_NEAR(growth([](std::uint64_t number) { return 1000 + 50 * number; }), 50'000, 100);
  EXPECT_NEAR(growth([&](auto number) { return 1000 + 50 * number + varies(number); }), 50'000,
              500);
  EXPECT_NEAR(growth([](std::uint64_t) { return 50'000; }), 0, 20);
  EXPECT_NEAR(growth(varies), 0, 20);
  EXPECT_EQ(growth([](std::uint64_t number) { return 100'000 - 50 * number; }), 0) << "it empties";
}

// Tests a gateway that queues foreground traffic only: background traffic, which is one frame of
// ten, has the shortest delays from the first to the last.
TEST_F(MixedLoop, AQueueThatGrowsForOneKindIsSeen) {
  send_all(10);
  const auto frames = drain_wire();
  std::multimap<Ticks, std::size_t> arrivals;
  for (std::size_t number = 0; number < frames.size(); ++number) {
    const auto size = static_cast<std::uint32_t>(frames[number].size());
    const auto stamp = frame::Layouts().claim(frames[number].data(), size, plan_.tag).stamp;
    const Ticks queued = stamp.stream().kind() == spec::Kind::kForeground ? 50 * number : 0;
    arrivals.emplace(kStart + plan_.schedule.due(number) + 1000 + queued, number);
  }
  TestReceiver receiver(&plan_, setup(), rx_);
  receiver.begin(kStart);
  for (const auto& [time, number] : arrivals) {
    wire_.put(frames[number]);
    FakeClock::time = time;
    receiver.step(time);
  }
  EXPECT_EQ(receiver.report().kinds[0].received, 900U);
  EXPECT_EQ(receiver.report().kinds[1].received, 100U);
  EXPECT_NEAR(receiver.report().kinds[0].shortest.growth(), 50'000, 500);
  EXPECT_NEAR(receiver.report().kinds[1].shortest.growth(), 0, 100);
}

// With a port's time stamps, the time from the stamp to the poll is not a part of a delay, whether
// or not the burst is in sequence.
TEST_F(Loop, ADelayEndsAtThePortsOwnStamp) {
  send_all(1000);
  auto frames = drain_wire();
  std::swap(frames[500], frames[501]);
  frames.push_back(frames[7]);
  put(frames);
  const auto polled = FakeClock::time;  // all are found at once; each arrived 77 after it left
  rx_.waits = [&](const std::vector<std::uint8_t>& octets) {
    const auto size = static_cast<std::uint32_t>(octets.size());
    const auto stamp = frame::Layouts().claim(octets.data(), size, plan_.tag).stamp;
    return polled - (kStart + plan_.schedule.due(stamp.number()) + stamp.lateness() + 77);
  };
  auto strict = setup();
  strict.frame_timeout = 100;
  const auto seen = receive_all(strict);
  EXPECT_EQ(seen.kinds[0].received, 1000U);
  EXPECT_EQ(seen.kinds[0].duplicated, 1U);
  EXPECT_EQ(seen.kinds[0].late, 0U);
  EXPECT_EQ(seen.kinds[0].delay.buckets().min, 77U);
  EXPECT_EQ(seen.kinds[0].delay.buckets().max, 77U);
}

// Without the port's time stamps, a frame may have arrived in time and have waited for the poll.
TEST_F(Loop, OnlyAPollLeavesItOpenWhetherAFrameWasLate) {
  send_all(1000);
  const auto frames = drain_wire();
  auto strict = setup();
  strict.frame_timeout = 50;
  put(frames);
  EXPECT_EQ(receive_all(strict).uncertain_late, 1000U) << "polled for the first time";
  rx_.waits = [](const std::vector<std::uint8_t>&) { return Ticks{0}; };
  put(frames);
  const auto seen = receive_all(strict);
  EXPECT_EQ(seen.kinds[0].late, 1000U);
  EXPECT_EQ(seen.uncertain_late, 0U);
}

}  // namespace
}  // namespace natxy::run
