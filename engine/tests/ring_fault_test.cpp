// Tests that each fault of a gateway is counted by its own counter and by no other, with the number
// in the gateway's record.
#include <gtest/gtest.h>

#include "lockstep_testbed.hpp"
#include "ring_counts.hpp"
#include "ring_trials.hpp"

namespace natxy::tests {
namespace {

using gateway::CorruptField;
using spec::Direction;

const std::string kForeground = "test forward foreground ";

std::uint64_t corrupted(const gateway::DirectionRecord& record, CorruptField field) {
  return record.corrupted[static_cast<std::size_t>(field)];
}

// The frames that one side sent are those that the other received.
void expect_books_balance(const Observed& seen) {
  for (const auto direction : {Direction::kForward, Direction::kReverse}) {
    const auto books = books_of(seen, direction);
    EXPECT_EQ(books.received, books.offered);
    EXPECT_EQ(books.arrived, books.forwarded);
    EXPECT_EQ(books.held, 0U);
  }
}

Observed forward(const Net& net, const std::string& fault) {
  LockstepTestbed testbed(gateway_config(net, fault));
  auto seen = testbed.run(forward_trial(net));
  expect_books_balance(seen);
  return seen;
}

const gateway::DirectionRecord& forward_record(const Observed& seen) {
  return record_of(seen, Direction::kForward);
}

// --- loss, duplicates, order ---------------------------------------------------------------------

class EveryKth : public testing::TestWithParam<std::uint64_t> {};

TEST_P(EveryKth, LossIsLostAndNothingElse) {
  const auto k = GetParam();
  const auto seen = forward(route44(), R"({"kind": "loss", "every": )" + std::to_string(k) + "}");
  EXPECT_EQ(forward_record(seen).dropped[gateway::index_of(gateway::Drop::kLoss)], kFrames / k);
  Counts expected;
  put(expected, kForeground + "lost", kFrames / k);
  EXPECT_EQ(wrongs(seen.result), expected);
  EXPECT_EQ(seen.result.streams[0].kinds[0]->received, kFrames - kFrames / k);
}

// The gaps of the numbering are the runs of consecutive numbers among the frames that the gateway
// drops: every frame is one run, and every second frame are as many runs as there are drops.
TEST_P(EveryKth, EachRunOfLostFramesIsAGap) {
  const auto k = GetParam();
  const auto seen = forward(route44(), R"({"kind": "loss", "every": )" + std::to_string(k) + "}");
  const auto& losses = seen.result.streams[0].losses;
  ASSERT_EQ(losses.has_value(), k <= kFrames);
  if (losses) {
    EXPECT_EQ(losses->gaps, k == 1 ? 1 : kFrames / k);
  }
}

// Two faults in a row: the second counts the frames that the first lets through.
TEST(Gaps, AreTheRunsOfWhatTwoFaultsDrop) {
  std::uint64_t gaps = 0;
  std::uint64_t passed = 0;
  bool was_lost = false;
  for (std::uint64_t number = 1; number <= kFrames; ++number) {
    const auto lost = number % 3 == 0 || ++passed % 5 == 0;
    gaps += lost && !was_lost;
    was_lost = lost;
  }
  const auto seen = forward(route44(), R"({"kind": "loss", "every": 3},
                                          {"kind": "loss", "every": 5})");
  ASSERT_TRUE(seen.result.streams[0].losses);
  EXPECT_EQ(seen.result.streams[0].losses->gaps, gaps);
}

// A frame that arrives late closes its gap, a duplicate makes none, and a wrong frame leaves one.
TEST(Gaps, AreThoseOfTheFramesThatNeverArrivedRight) {
  const auto late =
      forward(route44(), R"({"kind": "reorder", "every": 10, "by": 3, "within_ns": 20000000},
                            {"kind": "duplicate", "every": 7})");
  EXPECT_FALSE(late.result.streams[0].losses);
  const auto wrong = forward(route44(), R"({"kind": "corrupt", "every": 100, "field": "length"})");
  ASSERT_TRUE(wrong.result.streams[0].losses);
  EXPECT_EQ(wrong.result.streams[0].losses->gaps, kFrames / 100);
}

TEST_P(EveryKth, DuplicatesAreDuplicatedAndNothingElse) {
  const auto k = GetParam();
  const auto seen =
      forward(translate64(), R"({"kind": "duplicate", "every": )" + std::to_string(k) + "}");
  EXPECT_EQ(forward_record(seen).duplicated, kFrames / k);
  Counts expected;
  put(expected, kForeground + "duplicated", kFrames / k);
  EXPECT_EQ(wrongs(seen.result), expected);
  EXPECT_EQ(seen.result.streams[0].kinds[0]->received, kFrames);
  EXPECT_EQ(seen.result.streams[0].kinds[0]->delay.count, kFrames) << "a copy has no delay";
}

INSTANTIATE_TEST_SUITE_P(K, EveryKth, testing::Values(1, 2, 7, 100, 2999, 3000, 3001));

class Reordering : public testing::TestWithParam<std::uint64_t> {};

// RFC 4737 3.3: the frame that arrives after its successors is reordered, not the successors.
TEST_P(Reordering, IsCountedOnceAFrame) {
  const auto seen =
      forward(route66(), R"({"kind": "reorder", "every": 10, "within_ns": 20000000, "by": )" +
                             std::to_string(GetParam()) + "}");
  const auto held_back = forward_record(seen).reordered;
  EXPECT_EQ(wrongs(seen.result), (Counts{{kForeground + "reordered", held_back}}));
  EXPECT_EQ(held_back, kFrames / 10 - 1) << "nothing is behind the last one";
  EXPECT_EQ(seen.result.streams[0].kinds[0]->received, kFrames);
}

INSTANTIATE_TEST_SUITE_P(By, Reordering, testing::Values(1, 3, 9));

// --- a field that is not what it was -------------------------------------------------------------

struct Corruption {
  const char* field;
  bool fixed;           // the gateway updates the checksums
  const char* counter;  // null: no check can detect it
};

// An IPv6 header has no checksum.
std::vector<Corruption> corruptions(spec::IpVersion arriving) {
  const bool four = arriving == spec::IpVersion::k4;
  std::vector<Corruption> all{{"source_address", true, "address"},
                              {"source_address", false, "checksum"},
                              {"destination_address", true, "address"},
                              {"destination_address", false, "checksum"},
                              {"source_port", true, "port"},
                              {"source_port", false, "checksum"},
                              {"destination_port", true, "port"},
                              {"destination_port", false, "checksum"},
                              {"hop_limit", true, "hop_limit"},
                              {"hop_limit", false, four ? "checksum" : "hop_limit"},
                              {"hop_limit_kept", true, "hop_limit"},
                              {"fragment", true, "malformed"},
                              {"payload", true, nullptr},
                              {"payload", false, "checksum"},
                              {"udp_checksum", false, "checksum"},
                              {"length", true, "length"},
                              {"length", false, "checksum"},
                              {"udp_length", true, "malformed"},
                              {"number", true, "number"},
                              {"number", false, "checksum"}};
  if (four) all.push_back({"ip_checksum", false, "checksum"});
  return all;
}

std::string order(const Corruption& c, std::uint64_t every) {
  return R"({"kind": "corrupt", "every": )" + std::to_string(every) + R"(, "field": ")" + c.field +
         R"(", "fix_checksum": )" + (c.fixed ? "true}" : "false}");
}

CorruptField field_named(const char* name) {
  for (std::size_t i = 0; i < gateway::kCorruptFieldNames.size(); ++i) {
    if (std::string(gateway::kCorruptFieldNames[i]) == name) return static_cast<CorruptField>(i);
  }
  throw std::invalid_argument(name);
}

void expect_named(const Observed& seen, const Corruption& c, std::uint64_t count) {
  expect_books_balance(seen);
  EXPECT_EQ(corrupted(forward_record(seen), field_named(c.field)), count);
  Counts expected;
  if (c.counter != nullptr) {
    expected = {{kForeground + "lost", count}, {kForeground + c.counter, count}};
  }
  EXPECT_EQ(wrongs(seen.result), expected);
  EXPECT_EQ(seen.result.faults.size(), c.counter == nullptr ? 0U : 8U) << "examples";
}

class Corrupted : public testing::TestWithParam<Net> {};

TEST_P(Corrupted, AFieldIsNamedByItsCounter) {
  constexpr std::uint64_t kEvery = 20;
  constexpr std::uint64_t kFewer = kFrames / 3;  // there is a trial for each field
  const auto& net = GetParam();
  LockstepTestbed testbed(gateway_config(net));
  for (const auto& c : corruptions(net.right)) {
    SCOPED_TRACE(std::string(c.field) + (c.fixed ? ", checksums fixed" : ""));
    testbed.configure(gateway_config(net, order(c, kEvery)));
    auto spec = forward_trial(net);
    spec.phases[0].streams[0].segments[0].frames = kFewer;
    expect_named(testbed.run(spec), c, kFewer / kEvery);
  }
}

INSTANTIATE_TEST_SUITE_P(Through, Corrupted,
                         testing::Values(route44(), route66(), translate64(), translate46()),
                         [](const auto& that) { return "net_" + that.param.name; });

// Also with all frames, because some translators send only such frames.
TEST_P(Corrupted, WithoutUdpChecksumAFrameIsReceivedOverIpv4Alone) {
  const auto& net = GetParam();
  const bool four = net.right == spec::IpVersion::k4;
  LockstepTestbed testbed(gateway_config(net));
  for (const std::uint64_t every : {1U, 20U}) {
    const auto count = kFrames / every;
    testbed.configure(gateway_config(
        net, order({.field = "no_udp_checksum", .fixed = true, .counter = nullptr}, every)));
    const Counts wrong{{kForeground + "lost", count}, {kForeground + "checksum", count}};
    for (const bool required : {false, true}) {
      auto spec = forward_trial(net);
      spec.phases[0].streams[0].foreground->udp_checksum_required = required;
      const auto seen = testbed.run(spec);
      const Counts taken{{kForeground + "without_udp_checksum", count}};
      EXPECT_EQ(wrongs(seen.result), four && !required ? taken : wrong);
    }
  }
}

// --- the wrong form, the wrong hop limit, all of them --------------------------------------------

TEST(RingFault, AnotherIpVersionThanIsDueIsMalformed) {
  auto expected_net = route66();
  LockstepTestbed testbed(gateway_config(expected_net));
  auto spec = forward_trial(expected_net);
  spec.phases[0].streams[0].foreground->arrival =
      traffic_in(route44(), Direction::kForward).arrival;
  const auto seen = testbed.run(spec);
  expect_books_balance(seen);
  EXPECT_EQ(wrongs(seen.result),
            (Counts{{kForeground + "lost", kFrames}, {kForeground + "malformed", kFrames}}));
}

TEST(RingFault, AGatewayThatTakesAnotherHopThanTheSpecSays) {
  LockstepTestbed testbed(gateway_config(route44()));
  auto spec = forward_trial(route44());
  spec.phases[0].streams[0].foreground->hop_limit_drop = 1;
  EXPECT_EQ(wrongs(testbed.run(spec).result), Counts{});
  spec.phases[0].streams[0].foreground->hop_limit_drop = 2;
  ++spec.nonce;
  EXPECT_EQ(wrongs(testbed.run(spec).result),
            (Counts{{kForeground + "lost", kFrames}, {kForeground + "hop_limit", kFrames}}));
}

TEST(RingFault, SeveralFaultsInBothDirectionsAreToldApart) {
  LockstepTestbed testbed(gateway_config(translate64(),
                                         R"({"kind": "loss", "direction": "forward", "every": 30},
         {"kind": "duplicate", "direction": "forward", "every": 29},
         {"kind": "corrupt", "direction": "reverse", "every": 59, "field": "source_port"},
         {"kind": "reorder", "direction": "reverse", "every": 60, "by": 4,
          "within_ns": 20000000})"));
  const auto seen = testbed.run(both_ways_trial(translate64()));
  expect_books_balance(seen);
  constexpr auto kPassed = kFrames - kFrames / 30;
  const auto& reverse = seen.record.of(gateway::Direction::kReverse);
  EXPECT_EQ(forward_record(seen).duplicated, kPassed / 29);
  EXPECT_EQ(reverse.reordered, (kFrames - kFrames / 59) / 60);
  const std::string back = "test reverse foreground ";
  EXPECT_EQ(wrongs(seen.result), (Counts{{kForeground + "lost", kFrames / 30},
                                         {kForeground + "duplicated", kPassed / 29},
                                         {back + "lost", kFrames / 59},
                                         {back + "port", kFrames / 59},
                                         {back + "reordered", reverse.reordered}}));
}

// --- late ----------------------------------------------------------------------------------------

TEST(RingFault, BeyondTheFrameTimeoutIsLate) {
  LockstepTestbed testbed(
      gateway_config(route44(), R"({"kind": "delay", "pattern_ns": [0, 0, 0, 0, 0, 120000000]})"));
  auto spec = forward_trial(route44());
  spec.frame_timeout_ns = 70 * kMillisecond;
  spec.drain_ns = 180 * kMillisecond;
  const auto seen = testbed.run(spec);
  expect_books_balance(seen);
  EXPECT_GT(forward_record(seen).delay_ns.max(), spec.frame_timeout_ns);
  EXPECT_EQ(wrongs(seen.result),
            (Counts{{kForeground + "lost", kFrames / 6}, {kForeground + "late", kFrames / 6}}));
}

TEST(RingFault, WithoutAFrameTimeoutALongDelayIsADelay) {
  LockstepTestbed testbed(
      gateway_config(route44(), R"({"kind": "delay", "pattern_ns": [0, 0, 0, 0, 0, 120000000]})"));
  auto spec = forward_trial(route44());  // of 100 ms
  spec.drain_ns = 180 * kMillisecond;
  const auto result = testbed.run(spec).result;
  // The frames that wait arrive after all others, in order.
  EXPECT_EQ(wrongs(result), (Counts{{kForeground + "reordered", kFrames / 6 - 1}}));
  EXPECT_GT(result.streams[0].kinds[0]->delay.max_ns, 120e6);
}

TEST(RingFault, BeyondTheWindowIsLate) {
  constexpr std::uint64_t kSlowFrames = 1500;
  std::string pattern = "1500000000";
  for (std::uint64_t i = 1; i < kSlowFrames; ++i) pattern += ", 0";
  LockstepTestbed testbed(
      gateway_config(route44(), R"({"kind": "delay", "pattern_ns": [)" + pattern + "]}"));
  auto spec = forward_trial(route44());
  // A window of 1024 frames: what leaves within a second and the drain, rounded up.
  spec.phases[0].streams[0].segments = {{.frames = kSlowFrames, .rate_fps = 850, .pause_ns = 0}};
  EXPECT_EQ(wrongs(testbed.run(spec).result),
            (Counts{{kForeground + "lost", 1}, {kForeground + "late", 1}}));
}

// --- frames that are not of the trial ------------------------------------------------------------

TEST(RingFault, WhatAnEarlierTrialLeftIsForeign) {
  LockstepTestbed testbed(gateway_config(route44(), R"({"kind": "delay", "ns": 120000000})"));
  auto first = forward_trial(route44());
  first.drain_ns = kMillisecond;
  auto second = forward_trial(route44());
  second.drain_ns = 180 * kMillisecond;
  ASSERT_NE(first.nonce, second.nonce);
  const auto left = testbed.run_once(first).result;
  ASSERT_EQ(wrongs(left), (Counts{{kForeground + "lost", kFrames}})) << "none was in time";
  const auto seen = testbed.run_once(second);
  EXPECT_EQ(forward_record(seen).forwarded, 2 * kFrames);
  EXPECT_EQ(wrongs(seen.result), (Counts{{"right foreign", kFrames}}));
}

TEST(RingFault, APortWhereNothingIsDueCallsAllForeign) {
  LockstepTestbed testbed(gateway_config(route44(), R"({"kind": "delay", "ns": 120000000})"));
  auto first = forward_trial(route44());
  first.drain_ns = kMillisecond;
  (void)testbed.run_once(first);
  auto second = trial_of({stream_in(route44(), Direction::kReverse)});
  second.nonce = first.nonce;  // the same mark, but no stream arrives at this port
  second.drain_ns = 180 * kMillisecond;
  EXPECT_EQ(wrongs(testbed.run_once(second).result), (Counts{{"right foreign", kFrames}}));
}

TEST(RingFault, TheGatewaysQuestionsAreNeighbourFrames) {
  auto net = route44();
  net.routes = R"({"prefix": "198.19.0.0/16", "side": "right"})";  // on the link: ARP is needed
  LockstepTestbed testbed(gateway_config(net));
  auto counts = wrongs(testbed.run(forward_trial(net)).result);
  EXPECT_GE(counts["right neighbour"], 1U);
  counts.erase("right neighbour");
  counts.erase(kForeground + "lost");  // more frames than can wait for an answer
  EXPECT_EQ(counts, Counts{});
}

// --- no room -------------------------------------------------------------------------------------

TEST(RingFault, AFullRingIsTheGatewaysLoss) {
  constexpr unsigned kHolds = 1023;
  LockstepTestbed testbed(gateway_config(route44()),
                          {.ring_frames = kHolds + 1, .start_gateway = false});
  const auto seen = testbed.run_once(forward_trial(route44()));
  EXPECT_EQ(sent(seen.result.streams[0]), kFrames);
  EXPECT_EQ(wrongs(seen.result), (Counts{{kForeground + "lost", kFrames},
                                         {"test forward refused_by_gateway", kFrames - kHolds}}));
  for (unsigned i = 0; i < kHolds; ++i) testbed.gateway().step();
  EXPECT_EQ(testbed.gateway().record().of(gateway::Direction::kForward).received, kHolds);
}

// The gateway starts when the ring is full. Frames refused until then are sent late, not lost.
TEST(RingFault, AFullRingOfThePortIsTriedAgain) {
  LockstepTestbed testbed(gateway_config(route44()),
                          {.ring_frames = 1024, .device = "net_null0", .start_gateway = false});
  testbed.start_gateway_in(50 * kMillisecond);  // 1023 frames take 34 ms
  const auto seen = testbed.run_once(forward_trial(route44()));
  expect_books_balance(seen);
  const auto& stream = seen.result.streams[0];
  EXPECT_GT(stream.refused_by_port, 0U);
  EXPECT_GT(stream.largest_burst, 1U) << "it catches up";
  EXPECT_GT(stream.lateness.max_ns, 10e6);
  EXPECT_EQ(stream.lateness.count, kFrames);
  EXPECT_EQ(wrongs(seen.result),
            (Counts{{"test forward refused_by_port", stream.refused_by_port}}));
}

}  // namespace
}  // namespace natxy::tests
