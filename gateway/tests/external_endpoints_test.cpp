// Tests how the stateful translation shares external ports among hosts: in blocks (RFC 7422), and
// at most so many for each (RFC 6888 REQ-4).
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "gateway/nat/sessions.hpp"
#include "gateway/tests/bench_gateway.hpp"

namespace natxy::gateway::test {
namespace {

constexpr Nanoseconds kTimeout = 1'000'000'000;
constexpr std::uint32_t kFirstAddress = 0xc6130001;  // 198.19.0.1

NatConfig cgn(const std::string& more) {
  return config_with("", R"(, "nat": {"kind": "nat44", "timeout_ns": 1000000000, "entries": 10000,
      "pool": ["198.19.0.1", "198.19.0.2"])" +
                             more + "}")
      .nat.value();
}

// Opens connections of hosts, whose addresses are 0, 1 ...: their numbers.
class Town {
 public:
  explicit Town(const std::string& more) : sessions_(cgn(more)) {}

  Opened open(std::uint32_t host, std::uint16_t port, Nanoseconds now_ns = 0,
              std::uint16_t remote_port = 53) {
    return sessions_.outbound({.address = host, .port = port},
                              {.address = 1, .port = remote_port, .protocol = kUdp}, now_ns);
  }
  // Expects that a connection is made, and returns its external endpoint.
  Ipv4Endpoint external(std::uint32_t host, std::uint16_t port, Nanoseconds now_ns = 0) {
    const auto opened = open(host, port, now_ns);
    EXPECT_TRUE(opened.connection) << host << ":" << port;
    return opened.connection ? opened.connection->external : Ipv4Endpoint{};
  }
  // Expects that a connection is refused for this reason.
  void refused(Drop reason, std::uint32_t host, std::uint16_t port, Nanoseconds now_ns = 0) {
    const auto opened = open(host, port, now_ns);
    EXPECT_FALSE(opened.connection) << host << ":" << port;
    EXPECT_EQ(opened.reason, reason);
  }
  Sessions& sessions() { return sessions_; }

 private:
  Sessions sessions_;
};

Ipv4Endpoint at(std::uint32_t address, unsigned port) {
  return {.address = kFirstAddress + address, .port = static_cast<std::uint16_t>(port)};
}

TEST(PortBlocks, AHostsBlockFollowsFromItsNumber) {
  Town town(R"(, "block_ports": 64, "port_choice": "increasing")");
  for (const std::uint32_t host : {5U, 0U, 1U, 4U}) {  // not from the order of connections
    for (std::uint16_t i = 0; i < 64; ++i) {
      EXPECT_EQ(town.external(host, 2000 + i), at(host % 2, 1024 + host / 2 * 64 + i));
    }
  }
}

TEST(PortBlocks, HostsOfIpv6SubnetsAreNumberedAsWell) {
  Sessions sessions(cgn(R"(, "block_ports": 64)"));
  const auto of_subnet = [&](std::uint64_t subnet) {
    const auto first = static_cast<std::uint64_t>(0x20010db8) << 32U;
    const Uint128 address = (Uint128{first + subnet} << 64U) + 1;
    const auto opened = sessions.outbound({.address = address, .port = 9, .behind = 7},
                                          {.address = 1, .port = 53, .protocol = kUdp}, 0);
    return opened.connection.value().external;
  };
  const auto first = of_subnet(0);
  const auto third = of_subnet(2);
  EXPECT_NE(of_subnet(1).address, first.address);
  EXPECT_EQ(third.address, first.address);
  EXPECT_EQ(third.port, first.port + 64);
}

TEST(PortBlocks, AreAlignedToTheirSizeWithinTheRange) {
  Town town(R"(, "block_ports": 100, "ports": [1024, 1399], "port_choice": "increasing")");
  EXPECT_EQ(town.external(0, 5), at(0, 1100));
  EXPECT_EQ(town.external(2, 5), at(0, 1200));
  EXPECT_EQ(town.external(4, 5), at(0, 1300));
  EXPECT_EQ(town.external(6, 5), at(1, 1100)) << "the first address has no other block";
}

TEST(PortBlocks, AHostWhoseBlockIsUsedUpGetsAFurtherOneOrNone) {
  Town town(R"(, "block_ports": 2, "ports": [1024, 1029], "port_choice": "increasing")");
  EXPECT_EQ(town.external(2, 5), at(0, 1026));
  for (const unsigned port : {1024, 1025, 1028, 1029}) {
    EXPECT_EQ(town.external(0, static_cast<std::uint16_t>(port)), at(0, port));
  }
  for (const unsigned port : {1024, 1025, 1026, 1027, 1028, 1029}) {  // of the other address
    EXPECT_EQ(town.external(0, static_cast<std::uint16_t>(port + 10)), at(1, port));
  }
  town.refused(Drop::kNatPorts, 0, 6);
  EXPECT_EQ(town.external(2, 6), at(0, 1027)) << "the free port of its own block";
  town.refused(Drop::kNatPorts, 1, 5);
  EXPECT_EQ(town.sessions().record().refused_ports, 2U);
}

TEST(PortBlocks, ABlockIsFreeWithItsLastPort) {
  Town town(R"(, "block_ports": 2, "ports": [1024, 1025], "port_choice": "increasing")");
  EXPECT_EQ(town.external(0, 5), at(0, 1024));
  EXPECT_EQ(town.external(0, 6, kTimeout / 2), at(0, 1025));
  EXPECT_EQ(town.external(1, 5, kTimeout / 2), at(1, 1024));
  town.refused(Drop::kNatPorts, 2, 5, kTimeout);  // one port of the first block has expired
  EXPECT_EQ(town.external(2, 5, kTimeout * 3 / 2), at(0, 1024));
  EXPECT_EQ(town.external(0, 5, kTimeout * 3 / 2), at(1, 1025)) << "host 1 has none any more";
}

TEST(PortBlocks, APortIsPreservedInItsBlockOnly) {
  Town town(R"(, "block_ports": 64)");
  EXPECT_EQ(town.external(2, 1100), at(0, 1100));
  EXPECT_EQ(town.external(2, 1200), at(0, 1088));
}

TEST(PortBlocks, PseudorandomPortsAreOfTheBlock) {
  Town town(R"(, "block_ports": 64, "port_choice": "pseudorandom", "seed": 3)");
  for (std::uint16_t i = 0; i < 64; ++i) {
    EXPECT_EQ(town.external(2, i).port / 64, 1024 / 64 + 1);
  }
  EXPECT_EQ(town.external(2, 64).port / 64, 1024 / 64 + 2);
}

TEST(PortsPerHost, AreLimited) {
  Town town(R"(, "ports_per_host": 2)");
  (void)town.external(0, 5);
  (void)town.external(0, 6);
  town.refused(Drop::kNatLimit, 0, 7);
  EXPECT_TRUE(town.open(0, 6, 0, 54).connection) << "it needs no further port";
  (void)town.external(1, 7);
  EXPECT_EQ(town.sessions().record().refused_limit, 1U);
  EXPECT_EQ(town.sessions().record().created, 4U);
}

TEST(PortsPerHost, AreFreeAgainWithTheLastConnectionOfEach) {
  Town town(R"(, "ports_per_host": 1)");
  (void)town.external(0, 5);
  EXPECT_TRUE(town.open(0, 5, kTimeout / 2, 54).connection);
  town.refused(Drop::kNatLimit, 0, 6, kTimeout);
  (void)town.external(0, 6, kTimeout * 3 / 2);
  town.refused(Drop::kNatLimit, 0, 5, kTimeout * 3 / 2);
  town.sessions().clear();
  EXPECT_EQ(town.sessions().record().refused_limit, 0U);
  (void)town.external(0, 7);
}

TEST(PortsPerHost, AFrameThatNeedsOneMoreIsDropped) {
  BenchGateway bench(config_with(
      "", R"(, "nat": {"kind": "nat44", "pool": ["198.19.0.1"], "ports_per_host": 1})"));
  for (const auto port : std::vector<std::uint16_t>{5000, 5001, 5000}) {
    bench.receive(Side::kLeft, make_udp({.source_port = port, .destination_port = 53}), 0);
  }
  EXPECT_EQ(bench.departures().size(), 2U);
  EXPECT_EQ(dropped(bench, Drop::kNatLimit), 1U);
  const auto event = record_event(bench.record());
  EXPECT_NE(event.find(R"("nat_limit":1)"), std::string::npos) << event;
  EXPECT_NE(event.find(R"("limit":1)"), std::string::npos) << event;
}

TEST(PortBlocks, ThatCannotBeAreRefused) {
  EXPECT_EQ(cgn(R"(, "block_ports": 512, "ports_per_host": 9)").block_ports, 512U);
  EXPECT_EQ(cgn(R"(, "block_ports": 512, "ports_per_host": 9)").ports_per_host, 9U);
  for (const auto* wrong :
       {R"(, "block_ports": 65536)", R"(, "block_ports": 64, "ports": [1025, 1150])",
        R"(, "block_ports": 64, "mapping": "address-and-port-dependent")",
        R"(, "ports_per_host": 8, "mapping": "address-and-port-dependent")",
        R"(, "ports_per_host": 65537)"}) {
    EXPECT_THROW((void)cgn(wrong), ConfigError) << wrong;
  }
}

}  // namespace
}  // namespace natxy::gateway::test
