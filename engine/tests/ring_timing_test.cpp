// Compares the delays and rates of the engine with the gateway's record. Runs alone and, if
// allowed, under SCHED_FIFO. Repeats a trial in which a core was taken away, which both the record
// and the result show.
#include <gtest/gtest.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf_dyn.h>
#include <sched.h>

#include <chrono>
#include <cmath>
#include <sstream>

#include "reasons.hpp"
#include "ring_counts.hpp"
#include "ring_testbed.hpp"
#include "ring_trials.hpp"

namespace natxy::tests {
namespace {

// A busy host may take a core away every few milliseconds for minutes.
constexpr std::chrono::seconds kPatience{90};
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

// Runs the gateway on its own core, and both under SCHED_FIFO, for one short trial at a time.
class PunctualTestbed {
 public:
  explicit PunctualTestbed(const std::string& config, TestbedOptions options = {})
      : testbed_(config, std::move(options)) {}

  // Repeats the trial until it is valid, neither engine nor gateway was kept from its ports for
  // this long, as they report, and `is_near` accepts the result: interruptions that are too short
  // to be reported also change a median. Returns false if no trial succeeds.
  template <class IsNear>
  [[nodiscard]] bool comes_near(const spec::TrialSpec& spec, double longest_ns, IsNear is_near) {
    std::string why;
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
      const auto seen = run(spec);
      why = disturbance(seen, longest_ns);
      if (why.empty() && is_near(seen)) return !testing::Test::HasFailure();
      if (testing::Test::HasFailure()) return false;
    }
    ADD_FAILURE() << "not one trial in " << kPatience.count()
                  << " s; the last one: " << (why.empty() ? "undisturbed, but not near" : why);
    return false;
  }
  void comes_undisturbed(const spec::TrialSpec& spec, double longest_ns,
                         const std::function<void(const Observed&)>& check) {
    (void)comes_near(spec, longest_ns, [&](const Observed& seen) {
      check(seen);
      return true;
    });
  }
  // Runs the trial once.
  [[nodiscard]] Observed run(spec::TrialSpec spec) {
    testbed_.idle();  // drops late frames of the previous trial
    spec.nonce += 0x10000 * ++trials_;
    spec.realtime = set_gateway_priority(kPriority);
    testbed_.gateway().clear();
    testbed_.gateway().start_on_lcore(kGatewayLcore);
    auto seen = testbed_.run(spec);
    testbed_.gateway().stop();
    set_gateway_priority(0);
    return seen;
  }

 private:
  // Returns what was disturbed; empty if nothing was.
  static std::string disturbance(const Observed& seen, double longest_ns) {
    if (!seen.result.valid)
      return (std::ostringstream() << seen.result.invalid_reasons.front()).str();
    const auto away = [&](const char* who, double ns) {
      return ns < longest_ns ? "" : std::string(who) + " away for " + std::to_string(ns) + " ns";
    };
    auto who = away("the gateway was", static_cast<double>(seen.record.polls.worst_gap_ns()));
    if (who.empty()) who = away("the sender was", seen.result.streams[0].lateness.max_ns);
    for (const auto& worker : seen.result.workers) {
      if (who.empty()) who = away("the engine was", worker.worst_loop_gap_ns);
    }
    return who;
  }

  RingTestbed testbed_;
  unsigned trials_ = 0;
};

// Short, because an interruption is more likely in a long trial.
spec::TrialSpec short_trial(const Net& net, std::uint64_t frames, std::uint64_t rate_fps) {
  auto spec = forward_trial(net);
  spec.drain_ns = 15 * kMillisecond;
  spec.phases[0].streams[0].segments = {{.frames = frames, .rate_fps = rate_fps, .pause_ns = 0}};
  return spec;
}

const gateway::DirectionRecord& forward_record(const Observed& seen) {
  return record_of(seen, spec::Direction::kForward);
}
const spec::KindCounters& foreground(const Observed& seen) {
  return *seen.result.streams[0].kinds[0];
}
constexpr double kNearNs = 20'000;  // the allowed error of a delay
constexpr double kLongestNs = 5e6;  // frames that waited in the gateway arrive in time

class FixedDelay : public testing::TestWithParam<std::uint64_t> {};

TEST_P(FixedDelay, MedianIsTheGatewaysWithin20Microseconds) {
  const auto ns = std::to_string(GetParam());
  PunctualTestbed testbed(gateway_config(route44(), R"({"kind": "delay", "ns": )" + ns + "}"));
  const auto is_near = [](const Observed& seen) {
    EXPECT_EQ(wrongs(seen.result), Counts{});
    const auto& delay = foreground(seen).delay;
    const auto& record = forward_record(seen).delay_ns;
    EXPECT_GE(record.min(), GetParam());
    // The kernel adjusts its clock by up to 500 ppm against the time stamp counter.
    EXPECT_GE(delay.min_ns, 0.9995 * static_cast<double>(record.min())) << "cannot be sooner";
    return std::abs(delay.p50_ns - static_cast<double>(record.percentile(500))) <= kNearNs;
  };
  EXPECT_TRUE(testbed.comes_near(short_trial(route44(), 400, 20'000), kLongestNs, is_near));
}

INSTANTIATE_TEST_SUITE_P(Ns, FixedDelay, testing::Values(100'000, 1'000'000, 10'000'000));

// With delays of a known pattern, each percentile equals the gateway's.
TEST(RingTiming, PercentilesOfAPatternAreTheGateways) {
  PunctualTestbed testbed(gateway_config(
      route66(), R"({"kind": "delay", "pattern_ns": [500000, 1500000, 2500000, 3500000]})"));
  const auto are_near = [](const Observed& seen) {
    EXPECT_EQ(foreground(seen).received, 400U);
    const auto& delay = foreground(seen).delay;
    const auto off = [&](double seen_ns, std::uint64_t permille) {
      return std::abs(seen_ns -
                      static_cast<double>(forward_record(seen).delay_ns.percentile(permille)));
    };
    return off(delay.p50_ns, 500) <= kNearNs && off(delay.p90_ns, 900) <= kNearNs;
  };
  EXPECT_TRUE(testbed.comes_near(short_trial(route66(), 400, 20'000), kLongestNs, are_near));
}

// The last octet of the data is the most significant one of the lateness. If it is changed, the
// frame seems to have left 2^24 ticks later, after its arrival.
TEST(RingTiming, ADepartureAfterTheArrivalIsANegativeDelay) {
  PunctualTestbed testbed(
      gateway_config(route44(), R"({"kind": "corrupt", "every": 10, "field": "payload"})"));
  const double later_ns = tick_rate().to_ns(1U << 24U);
  const auto is_seen = [&](const Observed& seen) {
    EXPECT_EQ(wrongs(seen.result), Counts{});
    if (foreground(seen).delay.max_ns >= later_ns / 3) return false;
    EXPECT_EQ(foreground(seen).negative_delays, 40U);
    EXPECT_EQ(foreground(seen).delay.min_ns, 0.0);
    return true;
  };
  EXPECT_TRUE(testbed.comes_near(short_trial(route44(), 400, 20'000), later_ns / 3, is_seen));
}

// Ports with their own clock, which has 156.25 MHz and an arbitrary time.
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
  // The stamp of a frame that arrived this long ago.
  void stamp(rte_mbuf* frame, std::uint64_t ns_ago) const {
    const auto came = run::TscClock::now() - tick_rate().from_ns(ns_ago);
    *RTE_MBUF_DYNFIELD(frame, offset, rte_mbuf_timestamp_t*) = shows(came);
    frame->ol_flags |= flag;
  }
};

// Each frame is held for 3 ms, of which, by its stamp, it waits 2 ms in the tester's port.
TEST(RingTiming, WhereThePortStampsDelaysAreByItsClock) {
  const StampingPorts ports;
  PunctualTestbed testbed(gateway_config(route44(), R"({"kind": "delay", "ns": 3000000})"),
                          ports.options([&](rte_mbuf* frame) { ports.stamp(frame, 2'000'000); }));
  const auto is_near = [](const Observed& seen) {
    const auto& clock = seen.result.ports[1].clock;
    EXPECT_EQ(wrongs(seen.result), Counts{});
    EXPECT_EQ(seen.result.delay_clock, "port");
    EXPECT_TRUE(clock.own);
    EXPECT_EQ(clock.unstamped + clock.implausible, 0U);
    const auto& delay = foreground(seen).delay;
    const auto& record = forward_record(seen).delay_ns;
    EXPECT_GE(delay.min_ns, 0.9995 * static_cast<double>(record.min()) - 2e6 - kNearNs);
    const auto truth_ns = static_cast<double>(record.percentile(500)) - 2e6;
    return std::abs(delay.p50_ns - truth_ns) + clock.error_ns <= kNearNs;
  };
  EXPECT_TRUE(testbed.comes_near(short_trial(route44(), 400, 20'000), kLongestNs, is_near));
}

TEST(RingTiming, FramesThatThePortDidNotStampMakeATrialInvalid) {
  const StampingPorts ports;
  unsigned frames = 0;
  PunctualTestbed testbed(gateway_config(route44()), ports.options([&](rte_mbuf* frame) {
    ++frames % 10 == 0 ? static_cast<void>(frame->ol_flags = 0) : ports.stamp(frame, 0);
  }));
  const auto seen = testbed.run(short_trial(route44(), 400, 20'000));
  const auto arrived = forward_record(seen).forwarded;  // fewer than 400 if it was disturbed
  EXPECT_FALSE(seen.result.valid);
  EXPECT_EQ(seen.result.ports[1].clock.unstamped, arrived / 10);
  EXPECT_GT(arrived, 0U);
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
  testbed.comes_undisturbed(
      short_trial(route44(), 1000, 2 * rate_fps), kLongestNs, [&](const Observed& seen) {
        const auto& record = forward_record(seen);
        const auto refused = record.dropped[gateway::index_of(gateway::Drop::kRateLimit)];
        const auto received = foreground(seen).received;
        EXPECT_EQ(received, record.forwarded);
        EXPECT_EQ(wrongs(seen.result), (Counts{{"test forward foreground lost", refused}}));
        // A bucket gives no more tokens than it had, plus those that were added meanwhile.
        const auto most = static_cast<double>(depth) +
                          static_cast<double>(rate_fps) * seen.result.duration_ns / 1e9 + 1;
        EXPECT_LE(static_cast<double>(received), most);
        EXPECT_GT(received, depth);
        EXPECT_GT(refused, 0U);
      });
}

INSTANTIATE_TEST_SUITE_P(LB, RateLimited,
                         testing::Values(Limit{10'000, 10}, Limit{10'000, 1}, Limit{25'000, 100}));

TEST(RingTiming, TheStreamsOwnTimesAreTheSpecs) {
  PunctualTestbed testbed(gateway_config(route44()));
  const auto are_near = [](const Observed& seen) {
    const auto& stream = seen.result.streams[0];
    EXPECT_EQ(wrongs(seen.result), Counts{});
    return std::abs(stream.sending_ns - 20e6) < 1e6 && stream.first_departure_ns < 1e6;
  };
  EXPECT_TRUE(testbed.comes_near(short_trial(route44(), 201, 10'000), kLongestNs, are_near))
      << "200 gaps of 100 us are 20 ms";
}

}  // namespace
}  // namespace natxy::tests
