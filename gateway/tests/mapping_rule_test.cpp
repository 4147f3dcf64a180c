// Tests the rules of MAP against the examples of RFC 7597, appendix A, and that they have an
// inverse.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "gateway/address_map.hpp"
#include "gateway/tests/bench_gateway.hpp"

namespace natxy::gateway::test {
namespace {

Prefix prefix(const std::string& text) {
  return parse_prefix(text).value();
}

// Example 1: a sharing ratio of 256.
MappingRule shared() {
  return {.ipv6 = prefix("2001:db8::/40"), .ipv4 = prefix("192.0.2.0/24"), .ea_bits = 16};
}

TEST(MappingRule, ACustomerHasTheAddressOfTheExample) {
  const auto address = ip("2001:db8:12:3400:0:c000:212:34");
  for (const auto port : std::to_array<std::uint16_t>({1232, 1235, 2256, 63699, 64720, 64723})) {
    EXPECT_EQ(shared().to_ipv6(ip("192.0.2.18"), port), address) << port;
    EXPECT_EQ(shared().to_ipv4(address, port), ip("192.0.2.18")) << port;
  }
}

TEST(MappingRule, OtherPortsAreAnotherCustomers) {
  const auto address = ip("2001:db8:12:3400:0:c000:212:34");
  for (const auto port : std::to_array<std::uint16_t>({1231, 1236, 2255})) {
    EXPECT_NE(shared().to_ipv6(ip("192.0.2.18"), port), address) << port;
    EXPECT_EQ(shared().to_ipv4(address, port), std::nullopt) << port;
  }
}

TEST(MappingRule, NobodyHasExcludedPortsOrNoPort) {
  EXPECT_EQ(shared().to_ipv6(ip("192.0.2.18"), 1023), std::nullopt);
  EXPECT_EQ(shared().to_ipv6(ip("192.0.2.18"), std::nullopt), std::nullopt);
  EXPECT_EQ(shared().to_ipv6(ip("192.0.3.18"), 1232), std::nullopt);
}

TEST(MappingRule, AnInterfaceIdentifierMustFit) {
  EXPECT_EQ(shared().to_ipv4(ip("2001:db8:12:3400:0:c000:212:35"), 1232), std::nullopt);
  EXPECT_EQ(shared().to_ipv4(ip("2001:db8:12:3401:0:c000:212:34"), 1232), std::nullopt);
  EXPECT_EQ(shared().to_ipv4(ip("2001:db9:12:3400:0:c000:212:34"), 1232), std::nullopt);
}

// Example 4: an address of one's own.
TEST(MappingRule, WithoutAPsidThePortDoesNotMatter) {
  const MappingRule own{
      .ipv6 = prefix("2001:db8:12:3400::/56"), .ipv4 = prefix("192.0.2.18/32"), .ea_bits = 0};
  const auto address = ip("2001:db8:12:3400:0:c000:212:0");
  for (const Port port : {Port{}, Port{80}}) {
    EXPECT_EQ(own.to_ipv6(ip("192.0.2.18"), port), address);
    EXPECT_EQ(own.to_ipv4(address, port), ip("192.0.2.18"));
  }
}

TEST(MappingRule, EveryPortHasACustomerAndBack) {
  auto rule = shared();
  rule.psid_offset = 0;
  for (std::uint32_t port = 0; port < 65536; port += 7) {
    const auto its_port = static_cast<std::uint16_t>(port);
    const auto address = rule.to_ipv6(ip("192.0.2.255"), its_port);
    ASSERT_TRUE(address);
    ASSERT_EQ(static_cast<std::uint64_t>(address->value & 0xffffU), port >> 8U);
    ASSERT_EQ(rule.to_ipv4(*address, its_port), ip("192.0.2.255"));
  }
}

constexpr const char* kRule =
    R"("rules": [{"ipv6": "2001:db8::/40", "ipv4": "192.0.2.0/24", "ea_bits": 16}])";
constexpr const char* kRoutes =
    R"(, "routes": [{"prefix": "2001:db8::/40", "side": "left", "via": "2001:2::2"},
                    {"prefix": "198.19.0.0/16", "side": "right"}])";
constexpr const char* kCustomer = "2001:db8:12:3400:0:c000:212:34";

// A border relay that translates (RFC 7599).
Config map_t() {
  return config_with("", std::string(R"(, "translation": {"prefix": "2001:db8:ff00::/96", )") +
                             kRule + "}" + kRoutes);
}

UdpFrame from_customer(std::uint16_t port) {
  return {.source = kCustomer, .destination = "2001:db8:ff00::c613:2", .source_port = port};
}

TEST(MappingRule, ABorderRelayTranslates) {
  BenchGateway bench(map_t());
  bench.receive(Side::kLeft, make_udp(from_customer(1232)), 1);
  ASSERT_EQ(bench.departures().size(), 1U);
  const auto& out = bench.departures()[0].frame;
  EXPECT_EQ(out.source(), ip("192.0.2.18"));
  EXPECT_EQ(out.destination(), ip("198.19.0.2"));
  bench.receive(Side::kRight,
                make_udp({.source = "198.19.0.2",
                          .destination = "192.0.2.18",
                          .destination_port = 1232,
                          .to = kRightMac}),
                2);
  ASSERT_EQ(bench.departures().size(), 2U);
  EXPECT_EQ(bench.departures()[1].frame.destination(), ip(kCustomer));
}

TEST(MappingRule, ABorderRelayRefusesAnotherCustomersPort) {
  BenchGateway bench(map_t());
  bench.receive(Side::kLeft, make_udp(from_customer(1236)), 1);
  EXPECT_TRUE(bench.departures().empty());
  EXPECT_EQ(dropped(bench, Drop::kNoRoute), 1U);
}

}  // namespace
}  // namespace natxy::gateway::test
