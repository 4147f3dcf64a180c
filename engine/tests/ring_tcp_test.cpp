// Tests trials of TCP connections through the calibration gateway as a NAT (RFC 8219 section 8,
// RFC 3511 5.2 and 5.3): handshake, data in both directions, tear-down, and what a loss prevents.
#include <gtest/gtest.h>

#include <string>

#include "lockstep_testbed.hpp"
#include "nat_trials.hpp"
#include "ring_counts.hpp"

namespace natxy::tests {
namespace {

using spec::Direction;
using spec::Order;
using spec::Role;
using spec::TcpSegment;

constexpr std::uint16_t kMoreOctets = 14;  // of TCP, compared to UDP

spec::Stream segments(const NatNet& of, Role role, TcpSegment segment, Order order = Order::kLinear,
                      std::uint16_t data_octets = 0) {
  auto stream = connected(of, role, order);
  stream.foreground->connections->segment = segment;
  for (auto* end : {&stream.foreground->departure, &stream.foreground->arrival}) {
    end->transport = spec::Transport::kTcp;
    end->frame_size_bytes =
        static_cast<std::uint16_t>(end->frame_size_bytes + kMoreOctets + data_octets);
  }
  return stream;
}

spec::TrialSpec handshake_in(const NatNet& of) {
  auto spec = trial_of({segments(of, Role::kEstablish, TcpSegment::kSyn)});
  spec.phases[0].name = "syn";
  spec.phases.push_back(
      {.name = "syn-ack", .streams = {segments(of, Role::kRespond, TcpSegment::kSyn)}});
  spec.phases.push_back(
      {.name = "ack", .streams = {segments(of, Role::kInitiate, TcpSegment::kAck)}});
  return spec;
}

spec::Phase data_in(const NatNet& of) {
  return {.name = "test",
          .streams = {segments(of, Role::kInitiate, TcpSegment::kAck, Order::kPseudorandom, 100),
                      segments(of, Role::kRespond, TcpSegment::kAck, Order::kPseudorandom, 100)}};
}

class TcpNats : public testing::TestWithParam<int> {};

TEST_P(TcpNats, ConnectionsAreMadeUsedAndClosed) {
  const auto of = nat_net(GetParam());
  LockstepTestbed testbed(config_of(of));
  auto spec = handshake_in(of);
  spec.phases.push_back(data_in(of));
  spec.phases.push_back(
      {.name = "fin", .streams = {segments(of, Role::kInitiate, TcpSegment::kFin)}});
  spec.phases.push_back(
      {.name = "fin back", .streams = {segments(of, Role::kRespond, TcpSegment::kFin)}});
  spec.phases.push_back(
      {.name = "last", .streams = {segments(of, Role::kInitiate, TcpSegment::kLastAck)}});
  const auto seen = testbed.run(spec);
  EXPECT_EQ(wrongs(seen.result), Counts{});
  EXPECT_FALSE(seen.result.incomplete);
  EXPECT_EQ(seen.result.connections->stored, kFrames);
  EXPECT_EQ(seen.result.connections->bytes, 8 * kFrames);
  EXPECT_EQ(connections_of(seen.result, "syn", of.outward).stored, kFrames);
  for (const auto* phase : {"ack", "test", "fin", "last"}) {
    EXPECT_EQ(connections_of(seen.result, phase, of.outward).known, kFrames) << phase;
  }
  for (const auto* phase : {"syn-ack", "test", "fin back"}) {
    EXPECT_EQ(connections_of(seen.result, phase, inward(of)).known, kFrames) << phase;
  }
  if (of.nat.empty()) return;
  EXPECT_EQ(seen.record.nat->created, kFrames) << "nothing but the SYNs make connections";
}

INSTANTIATE_TEST_SUITE_P(Some, TcpNats, testing::Range(0, 4));

TEST(RingTcp, WhoseSynAckWasLostIsNotAcknowledged) {
  const auto of = nat44();
  LockstepTestbed testbed(
      config_of(of, R"({"kind": "loss", "direction": "reverse", "every": 10})"));
  auto spec = handshake_in(of);
  spec.phases.push_back(data_in(of));
  const auto seen = testbed.run(spec);
  const auto answered = kFrames - kFrames / 10;
  EXPECT_EQ(seen.result.connections->stored, kFrames);
  EXPECT_EQ(stream_of(seen.result, "syn-ack", Direction::kReverse).kinds[0]->lost, kFrames / 10);
  EXPECT_EQ(stream_of(seen.result, "ack", Direction::kForward).due, answered);
  EXPECT_EQ(connections_of(seen.result, "ack", Direction::kForward).known, answered);
  EXPECT_EQ(connections_of(seen.result, "test", Direction::kForward).known, kFrames);
}

TEST(RingTcp, WhereNothingAnswersTheTrialEnds) {
  const auto of = nat44();
  LockstepTestbed testbed(config_of(of, R"({"kind": "loss", "direction": "reverse", "every": 1})"));
  auto spec = handshake_in(of);
  spec.phases.push_back(data_in(of));
  const auto seen = testbed.run(spec);
  EXPECT_TRUE(seen.result.incomplete);
  EXPECT_EQ(seen.result.connections->stored, kFrames);
  EXPECT_EQ(seen.result.streams.size(), 2U);
}

TEST(RingTcp, SynAcksAreSentAgain) {
  const auto of = nat44();
  LockstepTestbed testbed(  // loses three of the first ones, none of those that are sent again
      config_of(of, R"({"kind": "loss", "direction": "reverse", "every": 1000})"));
  auto spec = handshake_in(of);
  spec.phases.insert(
      spec.phases.begin() + 2,
      {.name = "again",
       .streams = {segments(of, Role::kRespond, TcpSegment::kSyn, Order::kMissing)}});
  const auto seen = testbed.run(spec);
  EXPECT_EQ(stream_of(seen.result, "syn-ack", Direction::kReverse).kinds[0]->lost, 3U);
  EXPECT_EQ(connections_of(seen.result, "again", Direction::kReverse).known, 3U);
  EXPECT_EQ(connections_of(seen.result, "ack", Direction::kForward).known, kFrames);
}

TEST(RingTcp, SynsAreSentAgain) {
  const auto of = nat44();
  LockstepTestbed testbed(
      config_of(of, R"({"kind": "loss", "direction": "forward", "every": 1100})"));
  auto spec = handshake_in(of);
  spec.phases.resize(2);
  spec.phases.insert(
      spec.phases.begin() + 1,
      {.name = "again",
       .streams = {segments(of, Role::kInitiate, TcpSegment::kSyn, Order::kMissing)}});
  const auto seen = testbed.run(spec);
  EXPECT_EQ(connections_of(seen.result, "again", Direction::kForward).stored, 2U);
  EXPECT_EQ(connections_of(seen.result, "syn-ack", Direction::kReverse).known, kFrames);
}

TEST(RingTcp, ResetsEndConnectionsFromEitherSide) {
  const auto of = nat44();
  for (const auto role : {Role::kInitiate, Role::kRespond}) {
    LockstepTestbed testbed(config_of(of));
    auto spec = handshake_in(of);
    spec.phases.push_back({.name = "rst", .streams = {segments(of, role, TcpSegment::kRst)}});
    const auto seen = testbed.run(spec);
    const auto direction = role == Role::kInitiate ? Direction::kForward : Direction::kReverse;
    EXPECT_EQ(wrongs(seen.result), Counts{});
    EXPECT_EQ(connections_of(seen.result, "rst", direction).known, kFrames);
  }
}

// Of the initiator's SYNs, each fifteenth has a wrong field.
TEST(RingTcp, AFieldIsNamedByItsCounter) {
  constexpr auto kWrong = kFrames / 15;
  const std::string ahead = "test forward foreground ";
  const auto of = nat44();
  LockstepTestbed testbed(config_of(of));
  for (const auto& [field, counter] : {std::pair{"destination_address", "address"},
                                       {"destination_port", "port"},
                                       {"sequence", "sequence"},
                                       {"tcp_flags", "header"},
                                       {"hop_limit", "hop_limit"},
                                       {"hop_limit_kept", "hop_limit"},
                                       {"number", "number"},
                                       {"length", "length"},
                                       {"fragment", "malformed"}}) {
    SCOPED_TRACE(field);
    testbed.configure(config_of(
        of, std::string(R"({"kind": "corrupt", "every": 15, "field": ")") + field + R"("})"));
    const auto spec = trial_of({segments(of, Role::kEstablish, TcpSegment::kSyn)});
    EXPECT_EQ(wrongs(testbed.run(spec).result),
              (Counts{{ahead + "lost", kWrong}, {ahead + counter, kWrong}}));
  }
}

TEST(RingTcp, TwoConnectionsAtOneExternalFourTupleAreTold) {
  const auto of = nat44();
  LockstepTestbed testbed(config_of(of, R"({"kind": "nat-collide", "every": 10})"));
  auto spec = handshake_in(of);
  spec.phases.resize(2);
  const auto seen = testbed.run(spec);
  const auto& told = connections_of(seen.result, "syn-ack", Direction::kReverse);
  EXPECT_GT(told.collided, 0U);
  EXPECT_EQ(told.collided, seen.record.nat->collided);
}

TEST(RingTcp, UdpBackgroundGoesBeside) {
  const auto of = nat44();
  auto spec = handshake_in(of);
  spec.phases.push_back(data_in(of));
  for (auto& phase : spec.phases) {
    for (auto& stream : phase.streams) {
      stream.mix = {.n = 10, .m = 9};
      stream.background = traffic_in(route66(), stream.direction);
    }
  }
  auto routes = of;
  routes.net.routes += ", " + route66().routes;
  LockstepTestbed testbed(config_of(routes));
  const auto seen = testbed.run(spec);
  EXPECT_EQ(wrongs(seen.result), Counts{});
  EXPECT_EQ(seen.result.connections->stored, kFrames / 10 * 9);
}

}  // namespace
}  // namespace natxy::tests
