// Tests frames that a sender prepares before they are due: they are the same as those of a sender
// that prepares each when it is due, octet for octet.
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "loop.hpp"

namespace natxy::run {
namespace {

using spec::IpVersion;
using tests::FakeClock;
using tests::FakeTxQueue;
using tests::kStart;

constexpr std::uint64_t kFrames = 500;

struct Sent {
  std::vector<std::vector<std::uint8_t>> frames;
  std::vector<Ticks> left;
  SenderReport report;
};

// How a stream differs from the plainest.
enum class Kind { kPlain, kWithoutDf, kZeroChecksumsAvoided, kEnumerated, kMixed };

spec::Stream stream_of(IpVersion version, Kind kind) {
  auto stream = tests::stream_of(kFrames, 1'000'000, {.n = 3, .m = kind == Kind::kMixed ? 2U : 3U});
  stream.foreground = stream.background = tests::traffic(version, version);
  stream.foreground->dont_fragment = kind != Kind::kWithoutDf;
  stream.foreground->avoid_zero_checksum = kind == Kind::kZeroChecksumsAvoided;
  if (kind == Kind::kEnumerated) {
    stream.foreground->selection = spec::Selection::kEnumeratePseudorandom;
  }
  return stream;
}

// Sends a stream in steps that are mostly one frame apart, sometimes none, sometimes several. Only
// a shape without varying addresses prepares frames ahead.
template <flow::Shape kShape>
Sent send(const StreamPlan& plan, Share share) {
  FakeClock::time = 0;
  tests::Wire wire;
  FakeTxQueue queue(wire);
  for (unsigned kind = 0; kind < 2; ++kind) {
    queue.fill(kind, plan.kinds[kind].departure.octets());
  }
  unsigned calls = 0;
  queue.accept = [&](unsigned n) { return ++calls % 23 == 0 ? n / 2 : n; };
  const std::atomic<bool> cancelled{false};
  Control control(1, 0, cancelled);
  Sender<kShape, FakeClock, FakeTxQueue> sender(plan, share, queue, control, {.limit = 20'000});
  sender.begin(kStart);
  Sent sent;
  for (unsigned step = 0; !control.draining(); ++step) {
    sender.step(FakeClock::time);
    std::vector<std::uint8_t> octets;
    while (wire.take(octets)) {
      sent.frames.push_back(octets);
      sent.left.push_back(FakeClock::time);
    }
    FakeClock::time += step % 70 == 0 ? 30'000 : step % 9 == 0 ? 4'321 : 777;
  }
  sent.report = sender.report();
  return sent;
}

class Early : public testing::TestWithParam<std::tuple<IpVersion, Kind, unsigned>> {};

TEST_P(Early, FramesAreThoseThatAreMadeWhenTheyAreDue) {
  const auto& [version, kind, senders] = GetParam();
  const auto plan = tests::plan_of(stream_of(version, kind));
  constexpr flow::Shape kPlainShape{};
  constexpr flow::Shape kEnumerated{.enumerated = true};
  const Share share{.index = senders - 1, .count = senders};
  const auto late = kind == Kind::kEnumerated
                        ? send<flow::Shape{.addresses_vary = true, .enumerated = true}>(plan, share)
                        : send<tests::kVaried>(plan, share);
  const auto early =
      kind == Kind::kEnumerated ? send<kEnumerated>(plan, share) : send<kPlainShape>(plan, share);
  EXPECT_EQ(early.frames.size(), (kFrames + senders - 1 - share.index) / senders);
  EXPECT_EQ(early.frames, late.frames);
  EXPECT_EQ(early.left, late.left);
  EXPECT_GT(early.report.pauses, 0U);
  EXPECT_GT(early.report.refused_by_port, 0U);
  EXPECT_EQ(early.report.sent, late.report.sent);
  for (const auto& [one, other] : {std::pair{early.report.lateness, late.report.lateness},
                                   {early.report.send_call, late.report.send_call}}) {
    EXPECT_EQ(one.count(), other.count());
    EXPECT_EQ(one.max(), other.max());
    EXPECT_EQ(one.min(), other.min());
    EXPECT_EQ(one.mean(), other.mean());
  }
  EXPECT_EQ(early.report.step_gap.count(), late.report.step_gap.count());
  EXPECT_EQ(early.report.step_gap.mean(), late.report.step_gap.mean());
}

INSTANTIATE_TEST_SUITE_P(Each, Early,
                         testing::Combine(testing::Values(IpVersion::k4, IpVersion::k6),
                                          testing::Values(Kind::kPlain, Kind::kWithoutDf,
                                                          Kind::kZeroChecksumsAvoided,
                                                          Kind::kEnumerated, Kind::kMixed),
                                          testing::Values(1U, 3U)));

// The durations of frames that leave one at a time go to the histograms in lots of 32.
TEST(Gathered, NoDurationIsLost) {
  Histogram<5> histogram;
  Histogram<5> expected;
  Gathered gathered;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const auto times = i % 5 == 0 ? 3U : 1U;
    const Ticks value = i % 17 == 0 ? Ticks{1} << 33U : i * 31;
    gathered.record(value, times, histogram);
    expected.record(value, times);
  }
  EXPECT_LT(histogram.count(), expected.count()) << "the last lot is not complete";
  gathered.add_to(histogram);
  EXPECT_EQ(histogram.count(), expected.count());
  EXPECT_EQ(histogram.min(), expected.min());
  EXPECT_EQ(histogram.max(), expected.max());
  EXPECT_EQ(histogram.mean(), expected.mean());
  EXPECT_EQ(histogram.percentile(50), expected.percentile(50));
}

}  // namespace
}  // namespace natxy::run
