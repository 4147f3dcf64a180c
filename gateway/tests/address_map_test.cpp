// Tests the examples of RFC 6052, RFC 7757 and RFC 7597 (appendix A), and that each mapping and
// each rule has an inverse.
#include "gateway/address_map.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "gateway/tests/bench_gateway.hpp"

namespace natxy::gateway::test {
namespace {

Prefix prefix(const std::string& text) {
  return parse_prefix(text).value();
}

TEST(AddressMap, EmbedsAsTheExamplesOfRfc6052) {
  const std::array<std::array<std::string, 2>, 7> examples{{
      {"2001:db8::/32", "2001:db8:c000:221::"},
      {"2001:db8:100::/40", "2001:db8:1c0:2:21::"},
      {"2001:db8:122::/48", "2001:db8:122:c000:2:2100::"},
      {"2001:db8:122:300::/56", "2001:db8:122:3c0:0:221::"},
      {"2001:db8:122:344::/64", "2001:db8:122:344:c0:2:2100::"},
      {"2001:db8:122:344::/96", "2001:db8:122:344::192.0.2.33"},
      {"64:ff9b::/96", "64:ff9b::192.0.2.33"},
  }};
  for (const auto& [text, expected] : examples) {
    const AddressMap map{.prefix = prefix(text)};
    EXPECT_EQ(to_text(*map.to_ipv6(ip("192.0.2.33"))), to_text(ip(expected))) << text;
    EXPECT_EQ(to_text(*map.to_ipv4(ip(expected))), "192.0.2.33") << text;
  }
}

TEST(AddressMap, EmbedHasAnInverse) {
  for (const auto* text : {"2001:db8::/32", "2001:db8:100::/40", "2001:db8:122::/48",
                           "2001:db8:122:300::/56", "2001:db8:122:344::/64", "64:ff9b::/96"}) {
    for (std::uint32_t i = 0; i < 2000; ++i) {
      const auto ipv4 = IpAddress::ipv4(i * 2'147'483'647U);
      const auto embedded = embed(prefix(text), ipv4);
      EXPECT_TRUE(prefix(text).contains(embedded));
      EXPECT_TRUE(prefix(text).length == 96 || (embedded.value >> 56U & 0xffU) == 0);
      ASSERT_EQ(extract(prefix(text), embedded), ipv4) << text;
    }
  }
}

AddressMap rfc7757_map() {
  return {.mappings = {{prefix("192.0.2.1"), prefix("2001:db8:aaaa::")},
                       {prefix("192.0.2.2/32"), prefix("2001:db8:bbbb::b/128")},
                       {prefix("192.0.2.16/28"), prefix("2001:db8:cccc::/124")},
                       {prefix("192.0.2.128/26"), prefix("2001:db8:dddd::/64")},
                       {prefix("192.0.2.192/29"), prefix("2001:db8:eeee:8::/62")},
                       {prefix("192.0.2.224/31"), prefix("64:ff9b::/127")}},
          .prefix = prefix("64:ff9b::/96")};
}

TEST(AddressMap, TranslatesAsTheExamplesOfRfc7757) {
  const std::array<std::array<std::string, 2>, 12> examples{{
      {"192.0.2.1", "2001:db8:aaaa::"},
      {"192.0.2.2", "2001:db8:bbbb::b"},
      {"192.0.2.16", "2001:db8:cccc::"},
      {"192.0.2.24", "2001:db8:cccc::8"},
      {"192.0.2.31", "2001:db8:cccc::f"},
      {"192.0.2.128", "2001:db8:dddd::"},
      {"192.0.2.152", "2001:db8:dddd:0:6000::"},
      {"192.0.2.183", "2001:db8:dddd:0:dc00::"},
      {"192.0.2.191", "2001:db8:dddd:0:fc00::"},
      {"192.0.2.195", "2001:db8:eeee:9:8000::"},
      {"192.0.2.225", "64:ff9b::1"},
      {"192.0.2.248", "64:ff9b::c000:2f8"},
  }};
  const auto map = rfc7757_map();
  for (const auto& [ipv4, ipv6] : examples) {
    EXPECT_EQ(to_text(*map.to_ipv6(ip(ipv4))), to_text(ip(ipv6)));
    EXPECT_EQ(to_text(*map.to_ipv4(ip(ipv6))), ipv4);
  }
}

TEST(AddressMap, DropsTheBitsThatIpv4HasNoRoomFor) {
  const AddressMap map{.mappings = {{prefix("10.0.0.0/24"), prefix("2001:db8::/64")}}};
  EXPECT_EQ(to_text(*map.to_ipv4(ip("2001:db8::7fff:ffff:ffff:ffff"))), "10.0.0.127");
}

TEST(AddressMap, PrefersTheLongestPrefix) {
  const AddressMap map{.mappings = {{prefix("10.0.0.0/8"), prefix("2001:db8:1::/104")},
                                    {prefix("10.1.0.0/16"), prefix("2001:db8:2::/112")}}};
  EXPECT_EQ(to_text(*map.to_ipv6(ip("10.1.2.3"))), "2001:db8:2::203");
  EXPECT_EQ(to_text(*map.to_ipv6(ip("10.2.2.3"))), "2001:db8:1::2:203");
}

TEST(AddressMap, MapsAllOfIpv4AndAllOfIpv6) {
  const AddressMap map{.mappings = {{prefix("0.0.0.0/0"), prefix("::/0")}}};
  EXPECT_EQ(to_text(*map.to_ipv6(ip("192.0.2.33"))), "c000:221::");
  EXPECT_EQ(to_text(*map.to_ipv4(ip("c000:221::1"))), "192.0.2.33");
}

TEST(AddressMap, LeavesOthersAlone) {
  const AddressMap map{.mappings = {{prefix("10.0.0.0/8"), prefix("2001:db8:1::/96")}}};
  EXPECT_FALSE(map.to_ipv6(ip("11.0.0.1")));
  EXPECT_FALSE(map.to_ipv4(ip("2001:db8:3::1")));
  EXPECT_FALSE(map.is_explicit(ip("11.0.0.1")));
}

TEST(Address, TextThatIsNoneIsRefused) {
  for (const auto* text : {"", "198.18.0", "198.18.0.256", "2001:2:::1", "x"}) {
    EXPECT_FALSE(parse_address(text)) << text;
  }
  for (const auto* text :
       {"198.18.0.0/33", "198.18.0.0/", "::/129", "::/1x", "/8", "10.0.0.0/-1"}) {
    EXPECT_FALSE(parse_prefix(text)) << text;
  }
  for (const auto* text : {"02:00:00:00:00", "02:00:00:00:00:0g", "02-00-00-00-00-01", ""}) {
    EXPECT_FALSE(parse_mac(text)) << text;
  }
  EXPECT_EQ(to_text(*parse_mac("02:00:5e:10:0A:ff")), "02:00:5e:10:0a:ff");
  EXPECT_TRUE(parse_prefix("10.0.0.1/8")->has_host_bits());
  EXPECT_FALSE(parse_prefix("::/0")->has_host_bits());
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
