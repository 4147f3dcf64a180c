// A link that goes down within a trial makes it invalid, whether or not it comes back.
#include <gtest/gtest.h>

#include "fake_runner.hpp"
#include "traffic_cases.hpp"

namespace natxy::run {
namespace {

using Runner = tests::FakeRunner;

spec::TrialSpec trial() {
  spec::Stream stream{.direction = spec::Direction::kForward};
  stream.segments = {{.frames = 2000, .rate_fps = 20'000, .pause_ns = 0}};
  stream.foreground = tests::traffic(spec::IpVersion::k4, spec::IpVersion::k4);
  spec::TrialSpec spec{.seed = 1, .nonce = 2, .drain_ns = 100'000'000};
  spec.lateness_tolerance_ns = 10'000'000'000;
  spec.warm_up.mode = spec::WarmUpMode::kNeighbours;
  spec.phases = {{.name = "test", .gap_ns = 0, .streams = {stream}}};
  return spec;
}

// Runs a trial in which the right link is down from the second check on, for this many checks.
spec::TrialResult with_link_down_for(unsigned looks, bool may_fall = false) {
  tests::FakeDevice device(1, 1);
  auto spec = trial();
  spec.link_may_fall = may_fall;
  const std::atomic<bool> go_on{false};
  unsigned sending = 0;
  const Poll flap = [&](const spec::Progress& progress) {
    if (progress.stage == spec::Stage::kNeighbours) return;
    ++sending;
    device.links_up[1] = sending < 2 || sending >= 2 + looks;
  };
  return Runner(device).run(spec, flap, go_on);
}

TEST(Link, ThatStaysUpIsNoReason) {
  EXPECT_TRUE(with_link_down_for(0).valid);
}

TEST(Link, ThatFellAndCameBackIsAReason) {
  const auto result = with_link_down_for(2);
  EXPECT_FALSE(result.valid);
  ASSERT_EQ(result.invalid_reasons.size(), 1U);
  EXPECT_EQ(result.invalid_reasons[0].code, spec::ReasonCode::kLinkFell);
  EXPECT_EQ(result.invalid_reasons[0].where, "right");
  EXPECT_EQ(result.invalid_reasons[0].facts.at("times"), 1);
  EXPECT_EQ(result.ports[1].counters.link_downs, 1U);
  EXPECT_EQ(result.ports[0].counters.link_downs, 0U);
}

TEST(Link, ThatIsDownAtTheEndIsOneReason) {
  const auto result = with_link_down_for(1'000'000);
  ASSERT_EQ(result.invalid_reasons.size(), 1U);
  EXPECT_EQ(result.invalid_reasons[0].code, spec::ReasonCode::kLinkDown);
  EXPECT_EQ(result.invalid_reasons[0].where, "right");
}

// A reset of the device takes its links down with it (RFC 6201).
TEST(Link, MayFallWhereTheSpecSaysSo) {
  const auto result = with_link_down_for(2, true);
  EXPECT_TRUE(result.valid);
  EXPECT_EQ(result.ports[1].counters.link_downs, 1U);
  EXPECT_FALSE(with_link_down_for(1'000'000, true).valid);
}

}  // namespace
}  // namespace natxy::run
