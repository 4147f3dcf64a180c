// Tests the faults that only subscribers can see: another subscriber's ports or softwire,
// fragments, and hop limits, outer and inner.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "gateway/router.hpp"
#include "gateway/tests/bench_gateway.hpp"

namespace natxy::gateway::test {
namespace {

constexpr std::uint16_t kPort = 0x1234;
constexpr const char* kRoutesOfRule =
    R"(, "routes": [{"prefix": "2001:db8::/32", "side": "left", "via": "2001:2::2"},
                    {"prefix": "10.0.0.0/8", "side": "left", "via": "198.18.0.2"},
                    {"prefix": "198.19.0.0/16", "side": "right"}])";

// A rule with 8 bits of IPv4 suffix and 8 bits of PSID.
std::string rule(unsigned psid_offset) {
  return R"("rules": [{"ipv6": "2001:db8::/32", "ipv4": "10.0.0.0/24", "ea_bits": 16,
                       "psid_offset": )" +
         std::to_string(psid_offset) + "}]";
}

std::string fault_of(const std::string& field) {
  return R"({"kind": "corrupt", "every": 1, "field": ")" + field + R"("})";
}

Config map_e(const std::string& faults, unsigned psid_offset = 6) {
  return config_with(faults, R"(, "softwires": {"inside": "left", "address": "2001:2:0:1::1", )" +
                                 rule(psid_offset) + "}" + kRoutesOfRule);
}

Config map_t(const std::string& faults) {
  return config_with(
      faults, R"(, "translation": {"prefix": "2001:db9::/96", )" + rule(6) + "}" + kRoutesOfRule);
}

Bytes from_server() {
  return make_udp({.source = "198.19.0.2",
                   .destination = "10.0.0.7",
                   .source_port = 53,
                   .destination_port = kPort,
                   .to = kRightMac});
}

// Returns the frame that reaches the subscriber, and how often the field was changed.
std::pair<Seen, std::uint64_t> reached(const Config& config, const std::string& field) {
  BenchGateway bench(config);
  bench.receive(Side::kRight, from_server(), 1);
  const auto record = bench.record();
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < kCorruptFieldNames.size(); ++i) {
    if (field == kCorruptFieldNames[i]) count = record.of(Direction::kReverse).corrupted[i];
  }
  return {bench.departures().at(0).frame, count};
}

// RFC 7597, 5.1: with 6 offset bits and 8 bits of PSID, the PSID ends 2 bits before the port's end.
TEST(SubscriberFaults, APortOfAnotherSetHasAnotherPsidAlone) {
  for (const auto& [offset, flipped] : {std::pair{0U, 0x100U}, {4U, 0x10U}, {6U, 0x4U}}) {
    const auto [seen, count] = reached(map_e(fault_of("port_set"), offset), "port_set");
    const auto inner = inner_of(seen);
    EXPECT_EQ(read16(inner.udp() + 2), kPort ^ flipped);
    EXPECT_EQ(read16(inner.udp()), 53);
    EXPECT_TRUE(inner.udp_checksum_is_right());
    EXPECT_EQ(count, 1U);
    const auto [before, none] = reached(map_e("", offset), "port_set");
    EXPECT_EQ(seen.destination(), before.destination());
  }
}

TEST(SubscriberFaults, APortOfAnotherSetInATranslatedPacket) {
  const auto [before, none] = reached(map_t(""), "port_set");
  const auto [seen, count] = reached(map_t(fault_of("port_set")), "port_set");
  EXPECT_EQ(seen.destination(), before.destination());
  EXPECT_EQ(read16(seen.udp() + 2), kPort ^ 4U);
  EXPECT_TRUE(seen.udp_checksum_is_right());
  EXPECT_EQ(count, 1U);
}

// On the way from the subscriber, the source port is the subscriber's.
TEST(SubscriberFaults, OnTheOtherSideTheSourceIsTheSubscribers) {
  BenchGateway bench(map_t(fault_of("port_set")));
  const auto source = Subscribers(map_t("")).other_port(ip("10.0.0.7"), kPort ^ 4U);
  ASSERT_EQ(source, kPort);
  const auto customer = MappingRule{.ipv6 = *parse_prefix("2001:db8::/32"),
                                    .ipv4 = *parse_prefix("10.0.0.0/24"),
                                    .ea_bits = 16}
                            .to_ipv6(ip("10.0.0.7"), kPort);
  bench.receive(Side::kLeft,
                make_udp({.source = to_text(*customer),
                          .destination = "2001:db9::198.19.0.2",
                          .source_port = kPort,
                          .destination_port = 53}),
                1);
  const auto& seen = bench.departures().at(0).frame;
  EXPECT_EQ(read16(seen.udp()), kPort ^ 4U);
  EXPECT_EQ(read16(seen.udp() + 2), 53);
}

TEST(SubscriberFaults, WithoutPortSetsNothingIsChanged) {
  BenchGateway bench(config_with(fault_of("port_set") + "," + fault_of("softwire") + "," +
                                 fault_of("outer_hop_limit") + "," + fault_of("outer_fragment")));
  bench.receive(Side::kLeft, make_udp({}), 1);
  BenchGateway intact(config_with(""));
  intact.receive(Side::kLeft, make_udp({}), 1);
  EXPECT_EQ(bench.departures().at(0).frame.frame, intact.departures().at(0).frame.frame);
  for (const auto count : bench.forward().corrupted) EXPECT_EQ(count, 0U);
}

// The other end is one that the rule gives to the other port.
TEST(SubscriberFaults, AnotherSoftwireIsThatOfAnotherSubscriber) {
  const auto [before, none] = reached(map_e(""), "softwire");
  const auto [seen, count] = reached(map_e(fault_of("softwire")), "softwire");
  EXPECT_EQ(count, 1U);
  const MappingRule rule{
      .ipv6 = *parse_prefix("2001:db8::/32"), .ipv4 = *parse_prefix("10.0.0.0/24"), .ea_bits = 16};
  EXPECT_EQ(seen.destination(), rule.to_ipv6(ip("10.0.0.7"), kPort ^ 4U));
  EXPECT_NE(seen.destination(), before.destination());
  EXPECT_EQ(inner_of(seen).frame, inner_of(before).frame);
}

TEST(SubscriberFaults, WithoutARuleTheOtherEndIsBeside) {
  const auto with_ends = [](const std::string& ends) {
    return Subscribers(config_with(
        "", R"(, "softwires": {"inside": "left", "address": "2001:2:0:1::1", )" + ends +
                R"(}, "nat": {"kind": "nat44", "pool": ["198.19.0.1"], "entries": 10})"));
  };
  const auto binding =
      with_ends(R"("explicit": [{"ipv4": "198.18.0.0/24", "ipv6": "2001:2::/120"}])");
  EXPECT_EQ(binding.other_end(ip("2001:2::2"), ip("198.18.0.2"), kPort), ip("2001:2::3"));
  const auto aftr = with_ends(R"("subscribers": "2001:db8::/40")");
  EXPECT_EQ(aftr.other_end(ip("2001:db8:0:6::1"), ip("192.0.0.2"), kPort), ip("2001:db8:0:7::1"));
}

TEST(SubscriberFaults, TheOuterHopLimitIsOfTheOuterHeaderAlone) {
  const auto [before, none] = reached(map_e(""), "outer_hop_limit");
  const auto [seen, count] = reached(map_e(fault_of("outer_hop_limit")), "outer_hop_limit");
  EXPECT_EQ(count, 1U);
  auto expected = before.frame;
  expected[21] ^= 1U;
  EXPECT_EQ(seen.frame, expected);
}

TEST(SubscriberFaults, AHopLimitThatIsKeptIsThatOnArrival) {
  const auto [seen, count] = reached(map_e(fault_of("hop_limit_kept")), "hop_limit_kept");
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(inner_of(seen).hop_limit(), 64);
  EXPECT_TRUE(inner_of(seen).ip_checksum_is_right());
  EXPECT_EQ(seen.hop_limit(), 64);
  BenchGateway bench(config_with(fault_of("hop_limit_kept")));
  bench.receive(Side::kLeft, make_udp({.source = "2001:2::2", .destination = "2001:2:0:8000::2"}),
                1);
  EXPECT_EQ(bench.departures().at(0).frame.hop_limit(), 64);
}

// In a softwire, the inner packet is the fragment.
TEST(SubscriberFaults, AFragmentOfIpv4HasAFlag) {
  const auto [seen, count] = reached(map_e(fault_of("fragment")), "fragment");
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(inner_of(seen).ip_header()[6] & 0x20, 0x20);
  EXPECT_TRUE(inner_of(seen).ip_checksum_is_right());
  EXPECT_TRUE(inner_of(seen).udp_checksum_is_right());
}

struct FragmentHeader {
  std::size_t at;
  std::uint8_t next_header;
};

void expect_inserted(const Seen& before, const Seen& after, const FragmentHeader& header) {
  auto expected = before.frame;
  const Bytes inserted{header.next_header, 0, 0, 1, 0, 0, 0, 0};
  expected.insert(expected.begin() + static_cast<std::ptrdiff_t>(header.at), inserted.begin(),
                  inserted.end());
  write16(expected.data() + 18, static_cast<std::uint32_t>(expected.size() - 54));
  expected[20] = kFragment;
  EXPECT_EQ(after.frame, expected);
}

TEST(SubscriberFaults, AFragmentOfIpv6HasAHeader) {
  const auto [before, none] = reached(map_t(""), "fragment");
  const auto [after, count] = reached(map_t(fault_of("fragment")), "fragment");
  EXPECT_EQ(count, 1U);
  expect_inserted(before, after, {.at = 54, .next_header = kUdp});
}

TEST(SubscriberFaults, AnOuterFragmentHasAHeaderBeforeTheInnerPacket) {
  const auto [before, none] = reached(map_e(""), "outer_fragment");
  const auto [after, count] = reached(map_e(fault_of("outer_fragment")), "outer_fragment");
  EXPECT_EQ(count, 1U);
  expect_inserted(before, after, {.at = 54, .next_header = kIpv4InIpv6});
}

// The header comes behind the other extension headers, which then lead to it.
TEST(SubscriberFaults, AFragmentHeaderComesBehindOtherHeaders) {
  auto frame = make_udp({.source = "2001:2::2", .destination = "2001:2:0:8000::2"});
  const Bytes options{kUdp, 0, 1, 4, 0, 0, 0, 0};
  frame.insert(frame.begin() + 54, options.begin(), options.end());
  frame[20] = kHopByHop;
  write16(frame.data() + 18, static_cast<std::uint32_t>(frame.size() - 54));
  BenchGateway bench(config_with(fault_of("fragment")));
  bench.receive(Side::kLeft, frame, 1);
  const auto& after = bench.departures().at(0).frame.frame;
  ASSERT_EQ(after.size(), frame.size() + 8);
  EXPECT_EQ(after[20], kHopByHop);
  EXPECT_EQ(after[54], kFragment);
  EXPECT_EQ(after[62], kUdp);
  EXPECT_EQ(after[65], 1);
  EXPECT_TRUE(std::equal(after.begin() + 70, after.end(), frame.begin() + 62));
}

// A frame that is longer already may fill its buffer, and a packet may be too long for the link.
TEST(SubscriberFaults, AFragmentHeaderNeedsRoom) {
  const auto length_after = [](const std::string& faults, std::size_t data_octets) {
    BenchGateway bench(config_with(faults));
    bench.receive(
        Side::kLeft,
        make_udp(
            {.source = "2001:2::2", .destination = "2001:2:0:8000::2", .data_octets = data_octets}),
        1);
    return bench.departures().at(0).frame.frame.size();
  };
  constexpr std::size_t kFull = 128 - 8 - 62;  // of the smallest buffer, with its spare octets
  EXPECT_EQ(length_after(fault_of("length") + "," + fault_of("fragment"), kFull), 62 + kFull + 1);
  constexpr std::size_t kLongest = 1500 - 48;
  EXPECT_EQ(length_after(fault_of("fragment"), kLongest - 8), 62 + kLongest);
  EXPECT_EQ(length_after(fault_of("fragment"), kLongest - 7), 62 + kLongest - 7);
}

}  // namespace
}  // namespace natxy::gateway::test
