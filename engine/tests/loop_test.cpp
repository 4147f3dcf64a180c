// Tests sender and receiver over fake ports: pacing, refusals, each counter of the receiver.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "fake_port.hpp"
#include "run/receiver.hpp"
#include "run/sender.hpp"
#include "traffic_cases.hpp"

namespace natxy::run {
namespace {

using spec::IpVersion;
using tests::FakeClock;
using tests::FakeRxQueue;
using tests::FakeTxQueue;
using tests::Wire;

constexpr flow::Shape kVaried{.addresses_vary = true};
constexpr Ticks kStart = 100;
using TestSender = Sender<kVaried, FakeClock, FakeTxQueue>;
using TestReceiver = Receiver<kVaried, FakeClock, FakeRxQueue>;

spec::Stream stream_of(std::uint64_t frames, std::uint64_t rate_fps, spec::Mix mix = {}) {
  spec::Stream stream;
  stream.segments = {{.frames = frames, .rate_fps = rate_fps, .pause_ns = 0}};
  stream.mix = mix;
  stream.foreground = tests::varied_traffic(IpVersion::k4, IpVersion::k4);
  stream.background = tests::traffic(IpVersion::k6, IpVersion::k6);
  return stream;
}

class Loop : public testing::Test {
 protected:
  explicit Loop(spec::Stream stream = stream_of(1000, 1'000'000))
      : plan_(tests::plan_of(stream)), tx_(wire_), rx_(wire_) {
    FakeClock::time = 0;
    for (unsigned kind = 0; kind < 2; ++kind) {
      tx_.fill(kind, plan_.kinds[kind].departure.octets());
    }
  }

  // Sends all frames; the clock advances by `tick` between steps.
  SenderReport send_all(Ticks tick, Catching catching = {}) {
    TestSender sender(plan_, {}, tx_, control_, catching);
    sender.begin(kStart);
    while (!control_.draining()) {
      sender.step(FakeClock::time);
      FakeClock::time += tick;
    }
    return sender.report();
  }
  ReceiverReport receive_all(ReceiverSetup setup) {
    TestReceiver receiver(&plan_, setup, rx_);
    receiver.begin(kStart);
    while (wire_.size() > 0) receiver.step(FakeClock::time);
    return receiver.report();
  }
  [[nodiscard]] ReceiverSetup setup() const { return {.tag = plan_.tag, .window = 4096}; }
  std::vector<std::vector<std::uint8_t>> drain_wire() {
    std::vector<std::vector<std::uint8_t>> frames;
    std::vector<std::uint8_t> octets;
    while (wire_.take(octets)) frames.push_back(octets);
    return frames;
  }
  void put(const std::vector<std::vector<std::uint8_t>>& frames) {
    for (const auto& frame : frames) wire_.put(frame);
  }

  StreamPlan plan_;
  Wire wire_;
  FakeTxQueue tx_;
  FakeRxQueue rx_;
  std::atomic<bool> cancelled_{false};
  Control control_{1, 1000, cancelled_};
};

// Returns a spec with a thousand frames in ten seconds.
class LongLoop : public Loop {
 protected:
  LongLoop() : Loop(stream_of(1000, 100)) {}
};

TEST_F(Loop, AllThatIsSentArrivesInOrderAndIsRight) {
  const auto sent = send_all(10);
  const auto seen = receive_all(setup());
  EXPECT_EQ(sent.sent[0], 1000U);
  EXPECT_EQ(seen.kinds[0].received, 1000U);
  EXPECT_EQ(seen.kinds[0].reordered + seen.kinds[0].duplicated + seen.foreign, 0U);
  EXPECT_EQ(seen.kinds[0].delay.recorded(), 1000U);
  EXPECT_EQ(tx_.outstanding(), 0U);
}

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

// Ten tags among the last 500 frames: an absence affects another share of them than of all frames.
TEST_F(Loop, HowLongTaggedFramesMayHaveWaitedIsRecordedApart) {
  const TagPlan tags(plan_.schedule, 500'000, 10);
  auto with_tags = setup();
  with_tags.tags = tags;
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
  const auto of_tags = receiver.report().tag_poll_gap;
  EXPECT_EQ(receiver.report().tags->recorded(), 10U);
  EXPECT_EQ(of_tags.count(), 10U);
  EXPECT_GE(of_tags.max(), 150'000U) << "150 frames, three or four of them tagged";
  EXPECT_EQ(sender.report().tag_step_gap.count(), 10U);
  EXPECT_LE(sender.report().tag_step_gap.max(), sender.report().step_gap.max());
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
    return receiver.report().overrun;
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
  EXPECT_EQ(receiver.report().overrun, 280U);
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
  EXPECT_EQ(receiver.report().overrun, 0U);
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

TEST_F(Loop, DuplicatesLossAndOrderAreToldApart) {
  send_all(10);
  auto frames = drain_wire();
  std::swap(frames[10], frames[12]);   // 12 11 10: two arrive behind a newer one
  frames.push_back(frames[500]);       // a duplicate
  frames.push_back(frames[500]);       // another duplicate
  frames.erase(frames.begin() + 700);  // a loss
  put(frames);
  const auto seen = receive_all(setup());
  EXPECT_EQ(seen.kinds[0].received, 999U);
  EXPECT_EQ(seen.kinds[0].duplicated, 2U);
  EXPECT_EQ(seen.kinds[0].reordered, 2U);
}

TEST_F(Loop, FramesOfAnotherTrialAreForeignAndNeighboursAreDeferred) {
  send_all(10);
  auto other = setup();
  ++other.tag;
  std::vector<std::uint8_t> arp(60, 0);
  arp[12] = 8;
  arp[13] = 6;
  wire_.put(arp);
  wire_.put(std::vector<std::uint8_t>(5, 1));
  const auto seen = receive_all(other);
  EXPECT_EQ(seen.foreign, 1001U);
  EXPECT_EQ(seen.neighbour, 1U);
  EXPECT_EQ(rx_.deferred, 1U);
  EXPECT_EQ(seen.kinds[0].received, 0U);
}

TEST_F(Loop, EachDefectHasItsCounter) {
  send_all(10);
  auto frames = drain_wire();
  const auto reseal = [](std::vector<std::uint8_t>& f) {  // corrects the checksums
    frame::store<std::uint16_t>(f.data() + 24, 0);
    frame::store(f.data() + 24,
                 static_cast<std::uint16_t>(~frame::fold(frame::sum_words(f.data() + 14, 20))));
    frame::store<std::uint16_t>(f.data() + 40, 0);
    const auto udp = frame::sum_words(f.data() + 26, f.size() - 26) +
                     frame::swap16(static_cast<std::uint16_t>(f.size() - 34)) + frame::swap16(17);
    frame::store(f.data() + 40, frame::udp_checksum(frame::fold(udp)));
  };
  frames[1][14] = 0x46;  // malformed: options
  frames[2][50] ^= 1;    // checksum
  frames[3][48] = 0xff;
  frames[3][49] = 0xff;
  reseal(frames[3]);  // number beyond those of the trial
  frames[4].resize(62);
  frames[4][17] += 2;
  frames[4][39] += 2;
  reseal(frames[4]);  // length
  frames[5][29] ^= 1;
  reseal(frames[5]);  // address
  frames[6][34] ^= 1;
  reseal(frames[6]);  // port
  frames[7][22] -= 1;
  reseal(frames[7]);  // hop limit
  put(frames);
  const auto seen = receive_all(setup());
  const auto& defects = seen.kinds[0].defects;
  for (std::size_t defect = 1; defect < 8; ++defect) EXPECT_EQ(defects[defect], 1U) << defect;
  EXPECT_EQ(seen.kinds[0].received, 993U);
  EXPECT_EQ(seen.examples.size(), 7U);
}

void take_udp_checksum(std::vector<std::uint8_t>& ipv4_frame) {
  ipv4_frame[40] = ipv4_frame[41] = 0;
}

// RFC 768: over IPv4, the checksum may be absent. The hop limit is learned from the first frame, so
// the single checks judge this frame; whole lots, parts of a lot, and a lot with a gap use other
// paths.
TEST_F(Loop, FramesWithoutUdpChecksumAreAmongTheReceived) {
  send_all(10);
  auto frames = drain_wire();
  std::vector<std::size_t> without{0, 3, 999};
  for (std::size_t i = 64; i < 150; ++i) without.push_back(i);
  for (const auto i : without) take_udp_checksum(frames[i]);
  frames.push_back(frames[100]);  // a duplicate
  take_udp_checksum(frames[200]);
  frames[200][34] ^= 1;  // another port, which only the comparison can detect
  put(frames);
  const auto seen = receive_all(setup());
  EXPECT_EQ(seen.kinds[0].received, 999U);
  EXPECT_EQ(seen.kinds[0].duplicated, 1U);
  EXPECT_EQ(seen.kinds[0].defects[static_cast<std::size_t>(frame::Defect::kPort)], 1U);
  EXPECT_EQ(seen.kinds[0].without_udp_checksum, without.size());
}

TEST_F(Loop, LateFramesAreNotAmongThoseWithoutUdpChecksum) {
  send_all(10);
  auto frames = drain_wire();
  for (std::size_t i = 0; i < frames.size(); i += 2) take_udp_checksum(frames[i]);
  put(frames);
  auto strict = setup();
  strict.frame_timeout = 500'100;
  const auto seen = receive_all(strict).kinds[0];
  ASSERT_GT(seen.late, 400U);
  ASSERT_GT(seen.received, 400U);  // the last ones, among which 999 has a checksum
  EXPECT_EQ(seen.without_udp_checksum, seen.received / 2);
}

class StrictLoop : public Loop {
 protected:
  StrictLoop() : Loop(strict(stream_of(1000, 1'000'000))) {}
  static spec::Stream strict(spec::Stream stream) {
    stream.foreground->udp_checksum_required = true;
    return stream;
  }
};

TEST_F(StrictLoop, AUdpChecksumMayBeRequired) {
  send_all(10);
  auto frames = drain_wire();
  for (const std::size_t i : {0U, 5U, 700U}) take_udp_checksum(frames[i]);
  put(frames);
  const auto seen = receive_all(setup()).kinds[0];
  EXPECT_EQ(seen.received, 997U);
  EXPECT_EQ(seen.defects[static_cast<std::size_t>(frame::Defect::kChecksum)], 3U);
  EXPECT_EQ(seen.without_udp_checksum, 0U);
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
    TestReceiver receiver(&plan_, setup(), rx_);
    receiver.begin(kStart);
    for (std::uint64_t number = 0; number < frames.size(); ++number) {
      wire_.put(frames[number]);
      FakeClock::time = kStart + plan_.schedule.due(number) + 10 + delay(number);
      receiver.step(FakeClock::time);
    }
    EXPECT_EQ(receiver.report().kinds[0].received, 1000U);
    return receiver.report().shortest.growth();
  };
  const auto varies = [](std::uint64_t number) { return number * 7919 % 900; };
  EXPECT_NEAR(growth([](std::uint64_t number) { return 1000 + 50 * number; }), 50'000, 100);
  EXPECT_NEAR(growth([&](auto number) { return 1000 + 50 * number + varies(number); }), 50'000,
              500);
  EXPECT_NEAR(growth([](std::uint64_t) { return 50'000; }), 0, 20);
  EXPECT_NEAR(growth(varies), 0, 20);
  EXPECT_EQ(growth([](std::uint64_t number) { return 100'000 - 50 * number; }), 0) << "it empties";
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
    const auto stamp = frame::claim(octets.data(), size, plan_.tag).stamp;
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

class MixedLoop : public Loop {
 protected:
  MixedLoop() : Loop(stream_of(1000, 1'000'000, {.n = 10, .m = 9})) {}
};

TEST_F(MixedLoop, BothKindsAreCountedForThemselves) {
  const auto sent = send_all(3000);
  const auto seen = receive_all(setup());
  EXPECT_EQ(sent.sent, (std::array<std::uint64_t, 2>{900, 100}));
  EXPECT_EQ(seen.kinds[0].received, 900U);
  EXPECT_EQ(seen.kinds[1].received, 100U);
  EXPECT_EQ(seen.kinds[0].defects, (std::array<std::uint64_t, frame::kDefects>{}));
  EXPECT_EQ(seen.kinds[1].defects, (std::array<std::uint64_t, frame::kDefects>{}));
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

// Uses threads as in a trial with four workers, for TSan.
TEST(Threads, SendersAndReceiversOnThreadsOfTheirOwn) {
  const auto plan = tests::plan_of(stream_of(20'000, 2'000'000));
  Wire wire;
  std::atomic<bool> cancelled{false};
  const TickRate rate(1'000'000'000);
  struct Steady {
    static Ticks now() {
      return static_cast<Ticks>(std::chrono::steady_clock::now().time_since_epoch().count());
    }
  };
  Control control(2, rate.from_ns(2'000'000'000), cancelled);
  FakeTxQueue tx[2]{FakeTxQueue(wire), FakeTxQueue(wire)};
  FakeRxQueue rx(wire);
  Receiver<kVaried, Steady, FakeRxQueue> receiver(
      &plan, {.tag = plan.tag, .window = 20'000, .senders = 2}, rx);
  std::vector<std::unique_ptr<Sender<kVaried, Steady, FakeTxQueue>>> senders;
  for (unsigned i = 0; i < 2; ++i) {
    for (unsigned kind = 0; kind < 2; ++kind) tx[i].fill(kind, plan.kinds[kind].departure.octets());
    senders.push_back(std::make_unique<Sender<kVaried, Steady, FakeTxQueue>>(
        plan, Share{i, 2}, tx[i], control, Catching{.give_up = kNever}));
  }
  const auto loop = [&](auto& task) {
    task.begin(control.arrive<Steady>(3, 1'000'000));
    for (auto now = Steady::now(); !control.over(now); now = Steady::now()) task.step(now);
  };
  std::thread receiving([&] { loop(receiver); });
  std::thread first([&] { loop(*senders[0]); });
  std::thread second([&] { loop(*senders[1]); });
  std::uint64_t progress = 0;
  while (!control.draining()) progress = std::max(progress, receiver.progress());
  receiving.join();
  first.join();
  second.join();
  EXPECT_EQ(receiver.report().kinds[0].received, 20'000U);
  EXPECT_LE(progress, 20'000U);
}

}  // namespace
}  // namespace natxy::run
