// Tests the stateful translation in the gateway: its connections, and what happens to frames.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "gateway/tests/bench_gateway.hpp"

namespace natxy::gateway::test {
namespace {

constexpr Nanoseconds kSecond = 1'000'000'000;

Config nat44(const std::string& more = "", const std::string& faults = "") {
  return config_with(
      faults, R"(, "nat": {"kind": "nat44", "pool": ["198.19.0.1"], "entries": 100)" + more + "}");
}

struct Ends {
  std::uint16_t own;
  std::uint16_t remote = 2000;
};

Bytes outbound(Ends ports) {
  return make_udp({.source_port = ports.own, .destination_port = ports.remote});
}

Bytes inbound(std::uint16_t external_port, std::uint16_t remote_port = 2000) {
  return make_udp({.source = "198.19.0.2",
                   .destination = "198.19.0.1",
                   .source_port = remote_port,
                   .destination_port = external_port,
                   .to = kRightMac});
}

std::uint16_t source_port(const Departure& departure) {
  return read16(departure.frame.udp());
}

std::uint16_t destination_port(const Departure& departure) {
  return read16(departure.frame.udp() + 2);
}

class NatBench : public BenchGateway {
 public:
  using BenchGateway::BenchGateway;

  // Returns the external port with which the packet left; 0 if it did not leave.
  std::uint16_t send(Ends ports, Nanoseconds now_ns = 0) {
    const auto before = departures().size();
    receive(Side::kLeft, outbound(ports), now_ns);
    return departures().size() > before ? source_port(departures().back()) : 0;
  }
  // Returns the inside port at which the packet arrived; 0 if it did not arrive.
  std::uint16_t answer(std::uint16_t external_port, Nanoseconds now_ns = 0,
                       std::uint16_t remote_port = 2000) {
    const auto before = departures().size();
    receive(Side::kRight, inbound(external_port, remote_port), now_ns);
    return departures().size() > before ? destination_port(departures().back()) : 0;
  }
  NatRecord nat() { return record().nat.value(); }
  std::uint64_t dropped(Drop reason, Direction direction = Direction::kForward) {
    return record().of(direction).dropped[index_of(reason)];
  }
};

TEST(Nat44, TranslatesBothWays) {
  NatBench bench(nat44());
  EXPECT_EQ(bench.send({5000}), 5000);
  const auto& out = bench.departures().back();
  EXPECT_EQ(out.side, Side::kRight);
  EXPECT_EQ(out.frame.source(), ip("198.19.0.1"));
  EXPECT_EQ(out.frame.destination(), ip("198.19.0.2"));
  EXPECT_EQ(out.frame.hop_limit(), 63);
  EXPECT_TRUE(out.frame.ip_checksum_is_right());
  EXPECT_TRUE(out.frame.udp_checksum_is_right());
  EXPECT_EQ(bench.answer(5000), 5000);
  const auto& in = bench.departures().back();
  EXPECT_EQ(in.side, Side::kLeft);
  EXPECT_EQ(in.frame.source(), ip("198.19.0.2"));
  EXPECT_EQ(in.frame.destination(), ip("198.18.0.2"));
  EXPECT_TRUE(in.frame.ip_checksum_is_right());
  EXPECT_TRUE(in.frame.udp_checksum_is_right());
  EXPECT_EQ(bench.nat().created, 1U);
  EXPECT_EQ(bench.nat().outbound, 1U);
  EXPECT_EQ(bench.nat().inbound, 1U);
}

TEST(Nat44, ItsTableHoldsExactlyItsEntries) {
  NatBench bench(nat44());
  for (std::uint16_t i = 0; i < 100; ++i) EXPECT_EQ(bench.send({.own = 3000, .remote = i}), 3000);
  EXPECT_EQ(bench.send({.own = 3000, .remote = 100}), 0);
  EXPECT_EQ(bench.nat().refused_full, 1U);
  EXPECT_EQ(bench.dropped(Drop::kNatFull), 1U);
  EXPECT_EQ(bench.nat().peak, 100U);
  EXPECT_EQ(bench.send({.own = 3000, .remote = 0}), 3000);  // existing connections still work
}

TEST(Nat44, TheOldestIsOverwritten) {
  NatBench bench(nat44(R"(, "replacement": "overwrite-oldest")"));
  for (std::uint16_t i = 0; i < 100; ++i) EXPECT_NE(bench.send({.own = 3000, .remote = i}, i), 0);
  EXPECT_NE(bench.send({.own = 3000, .remote = 0}, 100), 0);  // used: connection 1 is the oldest
  EXPECT_NE(bench.send({.own = 3000, .remote = 500}, 101), 0);
  EXPECT_EQ(bench.nat().overwritten, 1U);
  EXPECT_EQ(bench.nat().entries, 100U);
  EXPECT_NE(bench.send({.own = 3000, .remote = 0}, 102), 0);
  EXPECT_EQ(bench.nat().created, 101U);
  EXPECT_NE(bench.send({.own = 3000, .remote = 1}, 103), 0);
  EXPECT_EQ(bench.nat().created, 102U);
}

TEST(Nat44, AnAddressWithoutFreePortsIsTriedAgainWhenOneIsFreed) {
  NatBench bench(nat44(R"(, "ports": [5000, 5001], "timeout_ns": 1000000000)"));
  EXPECT_EQ(bench.send({.own = 5000}), 5000);
  EXPECT_EQ(bench.send({.own = 5001}, kSecond / 2), 5001);
  EXPECT_EQ(bench.send({.own = 6000}, kSecond / 2), 0);
  EXPECT_EQ(bench.send({.own = 6000}, kSecond), 5000);  // the first one has expired
  EXPECT_EQ(bench.send({.own = 6001}, kSecond), 0);
}

TEST(Nat44, NewConnectionsAreLimitedByRate) {
  NatBench bench(nat44(R"(, "new_per_s": 10, "depth": 5)"));
  for (std::uint16_t i = 0; i < 60; ++i) {
    (void)bench.send({.own = 3000, .remote = i}, i * kSecond / 20);
  }
  // 5 at once, and 10 a second over 59 / 20 s.
  EXPECT_EQ(bench.nat().created, 5U + 29U);
  EXPECT_EQ(bench.nat().refused_rate, 60U - 34U);
  EXPECT_EQ(bench.dropped(Drop::kNatRate), 26U);
}

TEST(Nat44, CreatingAConnectionIsMoreWorkThanUsingOne) {
  NatBench bench(nat44(R"(, "work": {"per_s": 10, "depth": 20, "created": 5})"));
  for (std::uint16_t i = 0; i < 5; ++i) (void)bench.send({.own = 3000, .remote = i}, 0);
  EXPECT_EQ(bench.nat().created, 4U);  // 4 x 5 tokens
  EXPECT_EQ(bench.send({.own = 3000, .remote = 0}, 0), 0);
  EXPECT_EQ(bench.dropped(Drop::kNatRate), 2U);
  EXPECT_NE(bench.send({.own = 3000, .remote = 0}, kSecond / 10), 0);  // one token
  EXPECT_EQ(bench.send({.own = 3000, .remote = 1}, kSecond / 10), 0);
  for (int i = 0; i < 20; ++i) (void)bench.send({.own = 3000, .remote = 1}, 10 * kSecond);
  EXPECT_EQ(bench.send({.own = 3000, .remote = 1}, 10 * kSecond), 0);
}

constexpr auto kQueuedWork = R"(, "work": {"per_s": 1000000, "created": 100, "frames": 4})";

TEST(Nat44, CreatingAConnectionTakesTimeOfAServerWithAQueue) {
  constexpr Nanoseconds kPacketWork = 1000;
  NatBench bench(nat44(kQueuedWork));
  for (std::uint16_t i = 0; i < 6; ++i) {
    EXPECT_EQ(bench.send({.own = 3000, .remote = i}, kMillisecond), 0) << "it waits";
  }
  EXPECT_EQ(bench.nat().created, 4U);
  EXPECT_EQ(bench.nat().refused_rate, 2U);
  EXPECT_EQ(bench.dropped(Drop::kNatRate), 2U);
  bench.poll_until(2 * kMillisecond, 10 * kPacketWork);
  ASSERT_EQ(bench.departures().size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(bench.departures()[i].at_ns, kMillisecond + (i + 1) * 100 * kPacketWork);
  }
  (void)bench.answer(3000, 3 * kMillisecond, 1);  // both directions have one queue
  (void)bench.send({.own = 3000, .remote = 1}, 3 * kMillisecond);
  bench.poll_until(4 * kMillisecond, kPacketWork);
  ASSERT_EQ(bench.departures().size(), 6U);
  EXPECT_EQ(bench.departures()[4].side, Side::kLeft);
  EXPECT_EQ(bench.departures()[4].at_ns, 3 * kMillisecond + kPacketWork);
  EXPECT_EQ(bench.departures()[5].at_ns, 3 * kMillisecond + 2 * kPacketWork);
  EXPECT_EQ(bench.forward().delay_ns.max(), 400 * kPacketWork);
}

TEST(Nat44, AtTwiceTheRateOfItsServerItCreatesExactlyThatRate) {
  auto config = nat44(kQueuedWork);
  config.nat->entries = 2000;
  NatBench bench(config);
  for (std::uint16_t i = 0; i < 2000; ++i) {
    (void)bench.send({.own = 3000, .remote = i}, kMillisecond + i * 50'000U);
  }
  EXPECT_EQ(bench.nat().created, 4U + 999U);
  EXPECT_EQ(bench.dropped(Drop::kNatRate), 2000U - 1003U);
  bench.poll(kSecond);
  EXPECT_EQ(bench.departures().size(), 1003U);
  (void)bench.send({.own = 3000, .remote = 5000}, kSecond);
  bench.gateway().clear(kSecond);
  bench.poll(2 * kSecond);
  EXPECT_EQ(bench.departures().size(), 1003U) << "clear empties the queue";
}

// The faults see the frames in the order and at the times at which the work is done.
TEST(Nat44, FaultsComeAfterTheWork) {
  NatBench bench(nat44(kQueuedWork, R"({"kind": "rate_limit", "rate_fps": 20000, "depth": 1})"));
  for (std::uint16_t i = 0; i < 4; ++i) {
    (void)bench.send({.own = 3000, .remote = i}, kMillisecond);
  }
  bench.poll(2 * kMillisecond);  // 100 us between two frames, 50 us for a token
  EXPECT_EQ(bench.departures().size(), 4U);
}

TEST(Nat44, WhatIsNotUsedExpires) {
  NatBench bench(nat44(R"(, "timeout_ns": 1000000000, "filtering": "address-and-port-dependent")"));
  EXPECT_NE(bench.send({5000}, 0), 0);
  EXPECT_NE(bench.send({5001}, 0), 0);
  EXPECT_NE(bench.answer(5000, kSecond - 1), 0);  // an answer also counts as a use
  EXPECT_EQ(bench.answer(5001, kSecond), 0);
  EXPECT_EQ(bench.nat().expired, 1U);
  EXPECT_EQ(bench.dropped(Drop::kNatUnknown, Direction::kReverse), 1U);
  bench.gateway().sessions(kSecond)->set_timeout(10 * kSecond);
  EXPECT_NE(bench.answer(5000, 10 * kSecond), 0);
  bench.poll(21 * kSecond);
  EXPECT_EQ(bench.nat().entries, 0U);
}

TEST(Nat44, MappingAndFilteringAreIndependentOfTheEndpoint) {
  NatBench bench(nat44(R"(, "port_choice": "increasing")"));
  const auto external = bench.send({.own = 5000, .remote = 1});
  EXPECT_EQ(external, 1024);
  EXPECT_EQ(bench.send({.own = 5000, .remote = 2}), external);
  EXPECT_EQ(bench.send({.own = 5001, .remote = 2}), 1025);
  EXPECT_EQ(bench.answer(external, 0, 77), 5000);  // from a remote endpoint without a connection
  EXPECT_EQ(bench.nat().created, 4U);
  EXPECT_EQ(bench.answer(1026), 0);
}

TEST(Nat44, MappingAndFilteringDependOnAddressAndPort) {
  NatBench bench(nat44(
      R"(, "port_choice": "increasing", "mapping": "address-and-port-dependent", "ports": [10, 11])"));
  EXPECT_EQ(bench.send({.own = 5000, .remote = 1}), 10);
  EXPECT_EQ(bench.send({.own = 5000, .remote = 2}), 11);
  EXPECT_EQ(bench.send({.own = 5000, .remote = 3}), 10);  // ports are shared by remote endpoints
  EXPECT_EQ(bench.answer(10, 0, 3), 5000);
  EXPECT_EQ(bench.answer(10, 0, 2), 0);
  EXPECT_EQ(bench.send({.own = 6000, .remote = 1}), 11);
  EXPECT_EQ(bench.send({.own = 7000, .remote = 1}), 0);
  EXPECT_EQ(bench.nat().refused_ports, 1U);
}

TEST(Nat44, PseudorandomPortsAreDistinctAndInTheirRange) {
  NatBench bench(nat44(R"(, "port_choice": "pseudorandom", "ports": [500, 599], "seed": 3)"));
  std::set<std::uint16_t> seen;
  for (std::uint16_t i = 0; i < 100; ++i) {
    const auto port = bench.send({static_cast<std::uint16_t>(5000 + i)});
    EXPECT_GE(port, 500);
    EXPECT_LE(port, 599);
    seen.insert(port);
  }
  EXPECT_EQ(seen.size(), 100U);
}

TEST(Nat44, ACollisionSendsAnswersToTheWrongOne) {
  NatBench bench(nat44("", R"({"kind": "nat-collide", "every": 3})"));
  EXPECT_EQ(bench.send({5000}), 5000);
  EXPECT_EQ(bench.send({5001}), 5001);
  EXPECT_EQ(bench.send({5002}), 5001);
  EXPECT_EQ(bench.answer(5001), 5002);
  EXPECT_EQ(bench.answer(5000), 5000);
  EXPECT_EQ(bench.nat().collided, 1U);
  EXPECT_EQ(bench.send({5003}), 5003);
}

TEST(Nat44, AConnectionIsForgottenAfterItsTime) {
  NatBench bench(nat44("", R"({"kind": "nat-forget", "connection": 2, "after_ns": 1000})"));
  (void)bench.send({5000}, 0);
  (void)bench.send({5001}, 0);
  EXPECT_EQ(bench.answer(5001, 999), 5001);
  EXPECT_EQ(bench.answer(5001, 1000), 0);
  EXPECT_EQ(bench.answer(5000, 1000), 5000);
  EXPECT_EQ(bench.nat().forgotten, 1U);
}

TEST(Nat44, AConnectionChangesItsExternalPort) {
  NatBench bench(nat44(R"(, "mapping": "address-and-port-dependent")",
                       R"({"kind": "nat-change", "connection": 1, "after_ns": 1000})"));
  EXPECT_EQ(bench.send({5000}, 0), 5000);
  const auto after = bench.send({5000}, 1000);
  EXPECT_NE(after, 5000);
  EXPECT_NE(after, 0);
  EXPECT_EQ(bench.answer(after, 1000), 5000);
  EXPECT_EQ(bench.answer(5000, 1000), 0);
  EXPECT_EQ(bench.nat().changed, 1U);
  EXPECT_EQ(bench.nat().created, 1U);
}

TEST(Nat44, AFlushTakesItsTimeAndThatOfEachDeletion) {
  NatBench bench(nat44(R"(, "flush_ns": 500, "deletion_ns": 1000)"));
  Nanoseconds now_ns = 77;
  const auto clock = [&] { return now_ns += 10; };
  const auto flush_ns = [&] {
    const auto start_ns = now_ns;
    (void)bench.gateway().sessions(0)->flush(clock);
    return now_ns - start_ns;
  };
  for (std::uint16_t i = 0; i < 9; ++i) (void)bench.send({static_cast<std::uint16_t>(5000 + i)});
  EXPECT_NEAR(static_cast<double>(flush_ns()), 9500, 20);
  EXPECT_NEAR(static_cast<double>(flush_ns()), 500, 20);
  EXPECT_EQ(bench.nat().flushed, 9U);
  bench.gateway().clear(0);
  EXPECT_EQ(bench.nat().flushed, 0U);
}

TEST(Nat44, FlushForgetChangeAndClear) {
  NatBench bench(nat44());
  for (std::uint16_t i = 0; i < 10; ++i) (void)bench.send({static_cast<std::uint16_t>(5000 + i)});
  auto& sessions = *bench.gateway().sessions(0);
  EXPECT_TRUE(sessions.forget(3));
  EXPECT_FALSE(sessions.forget(3));
  EXPECT_TRUE(sessions.change(4));
  EXPECT_EQ(sessions.flush([] { return Nanoseconds{0}; }), 9U);
  EXPECT_EQ(sessions.count(), 0U);
  EXPECT_EQ(bench.nat().flushed, 9U);
  EXPECT_EQ(bench.answer(5000), 0);
  EXPECT_EQ(bench.send({5000}), 5000);
  bench.gateway().clear(0);
  EXPECT_EQ(bench.nat().created, 0U);
  EXPECT_EQ(bench.nat().entries, 0U);
  EXPECT_EQ(bench.send({5001}), 5001);
  EXPECT_TRUE(bench.gateway().sessions(0)->forget(1));
}

// Returns the frame with another protocol, whose header need not be correct.
Bytes with_protocol(Bytes frame, std::uint8_t protocol) {
  frame[kEthernetOctets + 9] = protocol;
  write16(frame.data() + 24, 0);
  write16(frame.data() + 24, checksum_of(sum_of({frame.data() + 14, 20})));
  return frame;
}

TEST(Nat44, WhatIsNoUdpOrTcpOrHasNoRouteMakesNoConnection) {
  constexpr std::uint8_t kSctp = 132;
  NatBench bench(nat44());
  bench.receive(Side::kLeft, with_protocol(outbound({5000}), kSctp), 0);
  EXPECT_EQ(bench.dropped(Drop::kNatProtocol), 1U);
  bench.receive(Side::kLeft, make_udp({.destination = "203.0.113.1"}), 0);
  EXPECT_EQ(bench.dropped(Drop::kNoRoute), 1U);
  bench.receive(Side::kLeft, make_udp({.hop_limit = 1}), 0);
  EXPECT_EQ(bench.dropped(Drop::kHopLimit), 1U);
  EXPECT_EQ(bench.nat().created, 0U);
}

TEST(Nat44, TcpHasConnectionsOfItsOwnAndItsChecksumStaysRight) {
  NatBench bench(nat44());
  EXPECT_EQ(bench.send({5000}), 5000);
  auto tcp = with_protocol(outbound({5000}), kTcp);
  auto* header = tcp.data() + kEthernetOctets + kIpv4Octets;
  const auto octets = tcp.size() - kEthernetOctets - kIpv4Octets;
  const auto sum_with = [&](const std::uint8_t* ip_header, const std::uint8_t* upper) {
    return sum_of({ip_header + 12, 8}) + kTcp + octets + sum_of({upper, octets});
  };
  write16(header + 16, 0);
  write16(header + 16, checksum_of(sum_with(tcp.data() + kEthernetOctets, header)));
  bench.receive(Side::kLeft, tcp, 0);
  EXPECT_EQ(bench.nat().created, 2U);
  const auto& out = bench.departures().back().frame;
  EXPECT_NE(out.source(), ip("198.18.0.2"));
  EXPECT_EQ(checksum_of(sum_with(out.ip_header(), out.udp())), 0);
  bench.receive(Side::kLeft, Bytes(tcp.begin(), tcp.begin() + 14 + 20 + 19), 0);
  EXPECT_EQ(bench.nat().created, 2U) << "a header that is cut off";
}

TEST(Nat64, TranslatesBothWays) {
  NatBench bench(config_with("", R"(, "nat": {"kind": "nat64", "pool": ["198.19.0.1"],
      "prefix": "64:ff9b::/96", "entries": 10, "port_choice": "increasing"})"));
  bench.receive(
      Side::kLeft,
      make_udp({.source = "2001:2::2", .destination = "64:ff9b::198.19.0.2", .source_port = 5000}),
      0);
  ASSERT_EQ(bench.departures().size(), 1U);
  const auto& out = bench.departures().back();
  EXPECT_EQ(source_port(out), 1024);
  EXPECT_EQ(out.frame.source(), ip("198.19.0.1"));
  EXPECT_EQ(out.frame.destination(), ip("198.19.0.2"));
  EXPECT_EQ(out.frame.hop_limit(), 63);
  EXPECT_TRUE(out.frame.ip_checksum_is_right());
  EXPECT_TRUE(out.frame.udp_checksum_is_right());
  EXPECT_EQ(bench.answer(1024), 5000);
  const auto& in = bench.departures().back();
  EXPECT_EQ(in.frame.source(), ip("64:ff9b::198.19.0.2"));
  EXPECT_EQ(in.frame.destination(), ip("2001:2::2"));
  EXPECT_EQ(in.frame.hop_limit(), 63);
  EXPECT_TRUE(in.frame.udp_checksum_is_right());
}

TEST(Nat64, OtherIpv6IsRouted) {
  NatBench bench(config_with("", R"(, "nat": {"kind": "nat64", "pool": ["198.19.0.1"],
      "prefix": "64:ff9b::/96"})"));
  bench.receive(Side::kLeft, make_udp({.source = "2001:2::2", .destination = "2001:2:0:8000::2"}),
                0);
  ASSERT_EQ(bench.departures().size(), 1U);
  EXPECT_TRUE(bench.departures().back().frame.is_ipv6());
  EXPECT_EQ(bench.nat().created, 0U);
}

TEST(NatConfig, IsReadAndRefused) {
  const auto config = nat44(R"(, "inside": "right", "timeout_ns": 5)", "").nat.value();
  EXPECT_EQ(config.inside, Side::kRight);
  EXPECT_EQ(config.timeout_ns, 5U);
  EXPECT_EQ(config.entries, 100U);
  for (const auto* wrong :
       {R"({"kind": "nat66", "pool": ["198.19.0.1"]})", R"({"kind": "nat44", "pool": []})",
        R"({"kind": "nat44", "pool": ["2001:2::1"]})", R"({"kind": "nat44"})",
        R"({"kind": "nat64", "pool": ["198.19.0.1"]})",
        R"({"kind": "nat44", "pool": ["198.19.0.1"], "ports": [5, 4]})",
        R"({"kind": "nat44", "pool": ["198.19.0.1"], "mapping": "address-and-port-dependent",
            "filtering": "endpoint-independent"})"}) {
    EXPECT_THROW((void)parse_config(std::string(R"({"nat": )") + wrong + "}"), ConfigError)
        << wrong;
  }
  EXPECT_THROW((void)config_with(R"({"kind": "nat-collide", "every": 3})"), ConfigError);
}

}  // namespace
}  // namespace natxy::gateway::test
