// Tests what the receiver counts: correct frames, and each way in which a frame can be wrong.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "loop.hpp"

namespace natxy::run {
namespace {

using tests::FakeRxQueue;
using tests::FakeTxQueue;
using tests::kVaried;
using tests::Loop;
using tests::MixedLoop;
using tests::stream_of;
using tests::Wire;

TEST_F(Loop, AllThatIsSentArrivesInOrderAndIsRight) {
  const auto sent = send_all(10);
  const auto seen = receive_all(setup());
  EXPECT_EQ(sent.sent[0], 1000U);
  EXPECT_EQ(seen.kinds[0].received, 1000U);
  EXPECT_EQ(seen.kinds[0].reordered + seen.kinds[0].duplicated + seen.foreign, 0U);
  EXPECT_EQ(seen.kinds[0].delay.recorded(), 1000U);
  EXPECT_EQ(tx_.outstanding(), 0U);
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
  using enum frame::Defect;
  for (const auto defect : {kMalformed, kChecksum, kNumber, kLength, kAddress, kPort, kHopLimit}) {
    EXPECT_EQ(defects[static_cast<std::size_t>(defect)], 1U) << static_cast<int>(defect);
  }
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

TEST_F(MixedLoop, BothKindsAreCountedForThemselves) {
  const auto sent = send_all(3000);
  const auto seen = receive_all(setup());
  EXPECT_EQ(sent.sent, (std::array<std::uint64_t, 2>{900, 100}));
  EXPECT_EQ(seen.kinds[0].received, 900U);
  EXPECT_EQ(seen.kinds[1].received, 100U);
  EXPECT_EQ(seen.kinds[0].defects, (std::array<std::uint64_t, frame::kDefects>{}));
  EXPECT_EQ(seen.kinds[1].defects, (std::array<std::uint64_t, frame::kDefects>{}));
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
  Control control(2, rate.from_ns(30'000'000'000), cancelled);
  FakeTxQueue tx[2]{FakeTxQueue(wire), FakeTxQueue(wire)};
  FakeRxQueue rx(wire);
  Arrivals arrivals(20'000);
  Receiver<kVaried, Steady, FakeRxQueue> receiver(
      &plan, {.tag = plan.tag, .arrivals = &arrivals, .senders = 2}, rx);
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
  while (progress < 20'000 && !control.over(Steady::now())) {
    progress = std::max(progress, receiver.progress());
  }
  cancelled = true;
  receiving.join();
  first.join();
  second.join();
  EXPECT_EQ(receiver.report().kinds[0].received, 20'000U);
  EXPECT_EQ(progress, 20'000U);
}

}  // namespace
}  // namespace natxy::run
