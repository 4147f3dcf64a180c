// Delays and rates as the engine tells them against the gateway's record. Runs alone and before
// other programs (SCHED_FIFO) where it may, and tries again where a core was taken away in a trial
// none the less: the record and the result both say so.
#include <gtest/gtest.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf_dyn.h>
#include <sched.h>

#include <cmath>

#include "ring_counts.hpp"
#include "ring_testbed.hpp"
#include "ring_trials.hpp"

namespace natxy::tests {
namespace {

constexpr int kAttempts = 40;
constexpr int kPriority = 5;

int take_priority(void* priority) {
  const sched_param parameters{.sched_priority = *static_cast<int*>(priority)};
  const int policy = parameters.sched_priority == 0 ? SCHED_OTHER : SCHED_FIFO;
  return pthread_setschedparam(pthread_self(), policy, &parameters);
}

bool set_gateway_priority(int priority) {
  rte_eal_remote_launch(take_priority, &priority, kGatewayLcore);
  return rte_eal_wait_lcore(kGatewayLcore) == 0;
}

// The gateway on its own core, and both before other programs, for one short trial at a time.
class PunctualTestbed {
 public:
  explicit PunctualTestbed(const std::string& config, TestbedOptions options = {})
      : testbed_(config, quiet(std::move(options))) {}

  [[nodiscard]] Observed run(spec::TrialSpec spec) {
    spec.realtime = set_gateway_priority(kPriority);
    testbed_.gateway().clear();
    testbed_.gateway().start_on_lcore(kGatewayLcore);
    auto seen = testbed_.run_once(spec);
    testbed_.gateway().stop();
    set_gateway_priority(0);
    return seen;
  }

 private:
  static TestbedOptions quiet(TestbedOptions options) {
    options.start_gateway = false;
    return options;
  }
  RingTestbed testbed_;
};

spec::TrialSpec short_trial(const Net& net, std::uint64_t frames, std::uint64_t rate_fps) {
  auto spec = forward_trial(net);
  spec.drain_ns = 30 * kMillisecond;
  spec.phases[0].streams[0].segments = {{.frames = frames, .rate_fps = rate_fps, .pause_ns = 0}};
  return spec;
}

// Neither the engine nor the gateway was kept from its ports for so long.
bool undisturbed(const Observed& seen, double longest_ns) {
  return static_cast<double>(seen.record.polls.worst_gap_ns()) < longest_ns &&
         seen.result.streams[0].lateness.max_ns < longest_ns &&
         seen.result.ports[1].worst_poll_gap_ns < longest_ns + 1e9 / 10'000;
}

class FixedDelay : public testing::TestWithParam<std::uint64_t> {};

TEST_P(FixedDelay, MedianIsTheGatewaysWithin20Microseconds) {
  const auto ns = std::to_string(GetParam());
  PunctualTestbed testbed(gateway_config(route44(), R"({"kind": "delay", "ns": )" + ns + "}"));
  double nearest_ns = 1e12;
  for (int i = 0; i < kAttempts && nearest_ns > 20'000; ++i) {
    const auto seen = testbed.run(short_trial(route44(), 1000, 10'000));
    if (!undisturbed(seen, 5e6)) continue;
    const auto& kind = *seen.result.streams[0].kinds[0];
    ASSERT_EQ(wrongs(seen.result), Counts{});
    const auto& record = seen.record.of(gateway::Direction::kForward).delay_ns;
    EXPECT_GE(record.min(), GetParam());
    // The kernel steers its clock by up to 500 ppm against the time stamp counter.
    EXPECT_GE(kind.delay.min_ns, 0.9995 * static_cast<double>(record.min())) << "cannot be sooner";
    nearest_ns = std::abs(kind.delay.p50_ns - static_cast<double>(record.percentile(500)));
  }
  EXPECT_LE(nearest_ns, 20'000);
}

INSTANTIATE_TEST_SUITE_P(Ns, FixedDelay, testing::Values(100'000, 1'000'000, 10'000'000));

// Delays of a known pattern: each percentile is where the gateway's is.
TEST(RingTiming, PercentilesOfAPatternAreTheGateways) {
  PunctualTestbed testbed(gateway_config(
      route66(), R"({"kind": "delay", "pattern_ns": [500000, 1500000, 2500000, 3500000]})"));
  bool near = false;
  for (int i = 0; i < kAttempts && !near; ++i) {
    auto seen = testbed.run(short_trial(route66(), 1000, 10'000));
    const auto& kind = *seen.result.streams[0].kinds[0];
    if (!undisturbed(seen, 5e6)) continue;  // what waited in the gateway may have come too late
    ASSERT_EQ(kind.received, 1000U);
    const auto& record = seen.record.of(gateway::Direction::kForward).delay_ns;
    const auto off = [&](double seen_ns, std::uint64_t permille) {
      return std::abs(seen_ns - static_cast<double>(record.percentile(permille)));
    };
    near = off(kind.delay.p50_ns, 500) <= 20'000 && off(kind.delay.p90_ns, 900) <= 20'000;
  }
  EXPECT_TRUE(near);
}

// The payload's last octet is the most significant one of the stamp's lateness: 2^24 ticks later
// than it left is before it arrived.
TEST(RingTiming, ADepartureAfterTheArrivalIsANegativeDelay) {
  PunctualTestbed testbed(
      gateway_config(route44(), R"({"kind": "corrupt", "every": 10, "field": "payload"})"));
  const double later_ns = tick_rate().to_ns(1U << 24U);
  bool undisturbed_once = false;
  for (int i = 0; i < kAttempts && !undisturbed_once; ++i) {
    const auto seen = testbed.run(short_trial(route44(), 1000, 10'000));
    ASSERT_EQ(wrongs(seen.result), Counts{});
    const auto& kind = *seen.result.streams[0].kinds[0];
    undisturbed_once = undisturbed(seen, later_ns / 3) && kind.delay.max_ns < later_ns / 3;
    if (!undisturbed_once) continue;
    EXPECT_EQ(kind.negative_delays, 100U);
    EXPECT_EQ(kind.delay.min_ns, 0.0);
  }
  EXPECT_TRUE(undisturbed_once);
}

// Ports with a clock of their own, of 156.25 MHz and set to some time of its own.
struct StampingPorts {
  double units_per_tick = 156.25e6 / static_cast<double>(tick_rate().hz());
  int offset = -1;
  std::uint64_t flag = 0;

  StampingPorts() { EXPECT_EQ(rte_mbuf_dyn_rx_timestamp_register(&offset, &flag), 0); }
  [[nodiscard]] std::uint64_t shows(run::Ticks ticks) const {
    constexpr run::Ticks kSometime = 1'000'000;
    return 0x1234'5678'9abc +
           static_cast<std::uint64_t>(static_cast<double>(ticks - kSometime) * units_per_tick);
  }
  [[nodiscard]] TestbedOptions options(std::function<void(rte_mbuf*)> arriving) const {
    return {.clock = [this] { return std::optional(shows(run::TscClock::now())); },
            .arriving = std::move(arriving)};
  }
  // As of a frame that came so long ago.
  void stamp(rte_mbuf* frame, std::uint64_t ns_ago) const {
    const auto came = run::TscClock::now() - tick_rate().from_ns(ns_ago);
    *RTE_MBUF_DYNFIELD(frame, offset, rte_mbuf_timestamp_t*) = shows(came);
    frame->ol_flags |= flag;
  }
};

// The gateway holds each frame for 3 ms, of which it waits 2 ms in the tester's port, by its stamp.
TEST(RingTiming, WhereThePortStampsDelaysAreByItsClock) {
  const StampingPorts ports;
  PunctualTestbed testbed(gateway_config(route44(), R"({"kind": "delay", "ns": 3000000})"),
                          ports.options([&](rte_mbuf* frame) { ports.stamp(frame, 2'000'000); }));
  double nearest_ns = 1e12;
  for (int i = 0; i < kAttempts && nearest_ns > 20'000; ++i) {
    const auto seen = testbed.run(short_trial(route44(), 1000, 10'000));
    if (!undisturbed(seen, 5e6)) continue;
    const auto& port = seen.result.ports[1];
    ASSERT_EQ(wrongs(seen.result), Counts{});
    EXPECT_EQ(seen.result.delay_clock, "port");
    EXPECT_TRUE(port.clock.own);
    EXPECT_EQ(port.clock.unstamped + port.clock.implausible, 0U);
    const auto& delay = seen.result.streams[0].kinds[0]->delay;
    const auto& record = seen.record.of(gateway::Direction::kForward).delay_ns;
    EXPECT_GE(delay.min_ns, 0.9995 * static_cast<double>(record.min()) - 2e6 - 20'000);
    const auto truth_ns = static_cast<double>(record.percentile(500)) - 2e6;
    nearest_ns = std::abs(delay.p50_ns - truth_ns) + port.clock.error_ns;
  }
  EXPECT_LE(nearest_ns, 20'000);
}

TEST(RingTiming, FramesThatThePortDidNotStampMakeATrialInvalid) {
  const StampingPorts ports;
  unsigned frames = 0;
  PunctualTestbed testbed(gateway_config(route44()), ports.options([&](rte_mbuf* frame) {
    ++frames % 10 == 0 ? static_cast<void>(frame->ol_flags = 0) : ports.stamp(frame, 0);
  }));
  const auto seen = testbed.run(short_trial(route44(), 1000, 10'000));
  EXPECT_FALSE(seen.result.valid);
  EXPECT_EQ(seen.result.ports[1].clock.unstamped, 100U);
}

struct Limit {
  std::uint64_t rate_fps;
  std::uint64_t depth;
};
class RateLimited : public testing::TestWithParam<Limit> {};

TEST_P(RateLimited, FramesReceivedAreThoseThatPassed) {
  const auto [rate_fps, depth] = GetParam();
  PunctualTestbed testbed(gateway_config(
      route44(), R"({"kind": "rate_limit", "rate_fps": )" + std::to_string(rate_fps) +
                     R"(, "depth": )" + std::to_string(depth) + "}"));
  const auto seen = testbed.run(short_trial(route44(), 3000, 2 * rate_fps));
  const auto& record = seen.record.of(gateway::Direction::kForward);
  const auto refused = record.dropped[gateway::index_of(gateway::Drop::kRateLimit)];
  const auto& kind = *seen.result.streams[0].kinds[0];
  EXPECT_EQ(kind.received, record.forwarded);
  EXPECT_EQ(wrongs(seen.result), (Counts{{"test forward foreground lost", refused}}));
  // No bucket gives more than it held and what came in meanwhile.
  const auto most = static_cast<double>(depth) +
                    static_cast<double>(rate_fps) * seen.result.duration_ns / 1e9 + 1;
  EXPECT_LE(static_cast<double>(kind.received), most);
  EXPECT_GT(kind.received, depth);
  EXPECT_GT(refused, 0U);
}

INSTANTIATE_TEST_SUITE_P(LB, RateLimited,
                         testing::Values(Limit{10'000, 10}, Limit{10'000, 1}, Limit{25'000, 100}));

TEST(RingTiming, TheStreamsOwnTimesAreTheSpecs) {
  PunctualTestbed testbed(gateway_config(route44()));
  bool near = false;
  for (int i = 0; i < kAttempts && !near; ++i) {
    const auto seen = testbed.run(short_trial(route44(), 1001, 10'000));
    const auto& stream = seen.result.streams[0];
    ASSERT_EQ(wrongs(seen.result), Counts{});
    near = std::abs(stream.sending_ns - 100e6) < 1e6 && stream.first_departure_ns < 1e6;
  }
  EXPECT_TRUE(near) << "1000 gaps of 100 us are 100 ms";
}

}  // namespace
}  // namespace natxy::tests
