// Tests the ends of softwires: what is taken out, what is put in, and what is refused.
#include "gateway/router.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "gateway/tests/bench_gateway.hpp"

namespace natxy::gateway::test {
namespace {

constexpr const char* kOwnEnd = "2001:2:0:1::1";
constexpr const char* kSubscriber = "2001:2::2";  // has 198.18.0.2

Config with_softwires(const std::string& faults = "", const std::string& own = kOwnEnd,
                      const std::string& more = "") {
  return config_with(faults, R"(, "softwires": {"inside": "left", "address": ")" + own +
                                 R"(", "explicit": [{"ipv4": "198.18.0.0/24",
                                                     "ipv6": "2001:2::/120"}]})" +
                                 more);
}

// Puts the IPv4 packet of a frame into a softwire.
Bytes in_softwire(const Bytes& frame, const std::string& source,
                  const std::string& destination = kOwnEnd) {
  Bytes outer(kEthernetOctets + kIpv6Octets);
  std::copy_n(frame.begin(), kEthernetOctets, outer.begin());
  auto* at = outer.data() + kEthernetOctets;
  write16(at - 2, kTypeIpv6);
  at[0] = 0x60;
  write16(at + 4, static_cast<std::uint32_t>(frame.size() - kEthernetOctets));
  at[6] = 4;
  at[7] = 1;  // ends here, so that it does not matter
  ip(source).write(at + 8);
  ip(destination).write(at + 24);
  outer.insert(outer.end(), frame.begin() + kEthernetOctets, frame.end());
  return outer;
}

Bytes to_subscriber(std::size_t data_octets = 18) {
  return make_udp({.source = "198.19.0.2",
                   .destination = "198.18.0.2",
                   .data_octets = data_octets,
                   .to = kRightMac});
}

std::uint64_t dropped_on_the_way_back(BenchGateway& bench, Drop reason) {
  return bench.record().of(Direction::kReverse).dropped[index_of(reason)];
}

TEST(Softwires, APacketLeavesItsSoftwire) {
  BenchGateway bench(with_softwires());
  bench.receive(Side::kLeft, in_softwire(make_udp({}), kSubscriber), 1);
  ASSERT_EQ(bench.departures().size(), 1U);
  const auto& [at_ns, side, frame] = bench.departures()[0];
  EXPECT_EQ(side, Side::kRight);
  ASSERT_FALSE(frame.is_ipv6());
  EXPECT_EQ(frame.frame.size(), make_udp({}).size());
  EXPECT_EQ(frame.source(), ip("198.18.0.2"));
  EXPECT_EQ(frame.destination(), ip("198.19.0.2"));
  EXPECT_EQ(frame.hop_limit(), 63);
  EXPECT_TRUE(frame.ip_checksum_is_right());
  EXPECT_TRUE(frame.udp_checksum_is_right());
}

TEST(Softwires, APacketEntersTheSoftwireOfItsDestination) {
  BenchGateway bench(with_softwires());
  bench.receive(Side::kRight, to_subscriber(), 1);
  ASSERT_EQ(bench.departures().size(), 1U);
  const auto& [at_ns, side, frame] = bench.departures()[0];
  EXPECT_EQ(side, Side::kLeft);
  ASSERT_TRUE(frame.is_ipv6());
  EXPECT_EQ(read32(frame.ip_header()), 0x60000000U);
  EXPECT_EQ(read16(frame.ip_header() + 4), 20 + 8 + 18);
  EXPECT_EQ(frame.ip_header()[6], 4);
  EXPECT_EQ(frame.hop_limit(), 64);
  EXPECT_EQ(frame.source(), ip(kOwnEnd));
  EXPECT_EQ(frame.destination(), ip(kSubscriber));
  const auto inner = inner_of(frame);
  EXPECT_EQ(inner.source(), ip("198.19.0.2"));
  EXPECT_EQ(inner.destination(), ip("198.18.0.2"));
  EXPECT_EQ(inner.hop_limit(), 63);
  EXPECT_TRUE(inner.ip_checksum_is_right());
  EXPECT_TRUE(inner.udp_checksum_is_right());
}

// RFC 7597, 8.1.
TEST(Softwires, ASourceThatIsNotTheSubscribersIsRefused) {
  BenchGateway bench(with_softwires());
  bench.receive(Side::kLeft, in_softwire(make_udp({}), "2001:2::3"), 1);
  bench.receive(Side::kLeft, in_softwire(make_udp({.source = "10.0.0.1"}), kSubscriber), 2);
  EXPECT_TRUE(bench.departures().empty());
  EXPECT_EQ(dropped(bench, Drop::kSoftwire), 2U);
}

TEST(Softwires, AMalformedInnerPacketIsMalformed) {
  BenchGateway bench(with_softwires());
  auto wrong_checksum = make_udp({});
  wrong_checksum[24] ^= 1U;
  auto cut = make_udp({});
  cut.resize(kEthernetOctets + 10);
  for (const auto& inner : {wrong_checksum, cut}) {
    bench.receive(Side::kLeft, in_softwire(inner, kSubscriber), 1);
  }
  EXPECT_EQ(dropped(bench, Drop::kMalformed), 2U);
}

TEST(Softwires, WhoHasNoSoftwireIsNotReached) {
  BenchGateway bench(with_softwires());
  bench.receive(Side::kRight,
                make_udp({.source = "198.19.0.2", .destination = "198.18.1.2", .to = kRightMac}),
                1);
  EXPECT_TRUE(bench.departures().empty());
  EXPECT_EQ(dropped_on_the_way_back(bench, Drop::kNoRoute), 1U);
}

TEST(Softwires, TheOuterHeaderCountsForTheMtu) {
  BenchGateway bench(with_softwires());
  bench.receive(Side::kRight, to_subscriber(1500 - 40 - 20 - 8), 1);
  bench.receive(Side::kRight, to_subscriber(1500 - 40 - 20 - 8 + 1), 2);
  EXPECT_EQ(bench.departures().size(), 1U);
  EXPECT_EQ(dropped_on_the_way_back(bench, Drop::kTransmit), 1U);
}

TEST(Softwires, TheirEndMayBeAnAddressOfTheLink) {
  BenchGateway bench(with_softwires("", "2001:2::1"));
  bench.receive(Side::kLeft, in_softwire(make_udp({}), kSubscriber, "2001:2::1"), 1);
  bench.receive(Side::kLeft, make_udp({.source = kSubscriber, .destination = "2001:2::1"}), 2);
  EXPECT_EQ(bench.departures().size(), 1U);
  EXPECT_EQ(bench.forward().received, 1U);
}

// As at an AFTR (RFC 6333).
TEST(Softwires, TheInnerPacketIsTranslated) {
  BenchGateway bench(with_softwires(
      "", kOwnEnd, R"(, "nat": {"kind": "nat44", "pool": ["198.19.0.1"], "entries": 10})"));
  bench.receive(Side::kLeft, in_softwire(make_udp({}), kSubscriber), 1);
  ASSERT_EQ(bench.departures().size(), 1U);
  const auto out = bench.departures()[0].frame;
  EXPECT_EQ(out.source(), ip("198.19.0.1"));
  bench.receive(Side::kRight,
                make_udp({.source = "198.19.0.2",
                          .destination = "198.19.0.1",
                          .source_port = 2000,
                          .destination_port = read16(out.udp()),
                          .to = kRightMac}),
                2);
  ASSERT_EQ(bench.departures().size(), 2U);
  const auto& back = bench.departures()[1].frame;
  EXPECT_EQ(back.destination(), ip(kSubscriber));
  EXPECT_EQ(inner_of(back).destination(), ip("198.18.0.2"));
  EXPECT_EQ(read16(inner_of(back).udp() + 2), 1000);
  EXPECT_TRUE(inner_of(back).udp_checksum_is_right());
}

// RFC 6333, 8.4: two B4s with the same private address and port.
TEST(Softwires, AnAftrTellsThemApart) {
  const std::string more =
      R"(, "nat": {"kind": "nat44", "pool": ["198.19.0.1"], "entries": 10},
         "routes": [{"prefix": "2001:db8::/40", "side": "left", "via": "2001:2::2"},
                    {"prefix": "198.19.0.0/16", "side": "right"}])";
  BenchGateway bench(config_with("", R"(, "softwires": {"inside": "left", "address": ")" +
                                         std::string(kOwnEnd) +
                                         R"(", "subscribers": "2001:db8::/40"})" + more));
  const std::array<const char*, 2> ends{"2001:db8::1", "2001:db8:0:1::1"};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    bench.receive(Side::kLeft, in_softwire(make_udp({.source = "192.0.0.2"}), ends[i]), i + 1);
  }
  ASSERT_EQ(bench.departures().size(), 2U);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const auto& out = bench.departures()[i].frame;
    EXPECT_EQ(out.source(), ip("198.19.0.1"));
    bench.receive(Side::kRight,
                  make_udp({.source = "198.19.0.2",
                            .destination = "198.19.0.1",
                            .source_port = 2000,
                            .destination_port = read16(out.udp()),
                            .to = kRightMac}),
                  10 + i);
  }
  ASSERT_EQ(bench.departures().size(), 4U);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const auto& back = bench.departures()[2 + i].frame;
    EXPECT_EQ(back.destination(), ip(ends[i]));
    EXPECT_EQ(inner_of(back).destination(), ip("192.0.0.2"));
    EXPECT_EQ(read16(inner_of(back).udp() + 2), 1000);
    EXPECT_TRUE(inner_of(back).udp_checksum_is_right());
  }
}

Seen corrupted_on_the_way_back(const std::string& field) {
  BenchGateway bench(
      with_softwires(R"({"kind": "corrupt", "every": 1, "field": ")" + field + R"("})"));
  bench.receive(Side::kRight, to_subscriber(), 1);
  return bench.departures().at(0).frame;
}

Seen intact_on_the_way_back() {
  BenchGateway bench(with_softwires());
  bench.receive(Side::kRight, to_subscriber(), 1);
  return bench.departures().at(0).frame;
}

struct Place {
  const char* field;
  std::size_t offset;  // of the octet that changes
};

// The outer packet is at 14, the inner one at 54, UDP at 74.
constexpr Place kPlaces[] = {{"outer_source", 37},   {"outer_destination", 53},
                             {"source_address", 69}, {"destination_address", 73},
                             {"source_port", 75},    {"destination_port", 77},
                             {"hop_limit", 62},      {"payload", 99}};

TEST(Softwires, ACorruptedFieldIsOuterOrInner) {
  const auto before = intact_on_the_way_back();
  for (const auto& [field, offset] : kPlaces) {
    SCOPED_TRACE(field);
    const auto after = corrupted_on_the_way_back(field);
    ASSERT_EQ(after.frame.size(), before.frame.size());
    EXPECT_EQ(before.frame[offset] ^ after.frame[offset], 1);
    EXPECT_TRUE(inner_of(after).ip_checksum_is_right());
    EXPECT_TRUE(inner_of(after).udp_checksum_is_right());
  }
}

TEST(Softwires, ACorruptedLengthIsInBothHeaders) {
  const auto before = intact_on_the_way_back();
  const auto after = corrupted_on_the_way_back("length");
  ASSERT_EQ(after.frame.size(), before.frame.size() + 1);
  EXPECT_EQ(read16(after.ip_header() + 4), after.frame.size() - 54);
  EXPECT_EQ(read16(inner_of(after).ip_header() + 2), after.frame.size() - 54);
  EXPECT_TRUE(inner_of(after).ip_checksum_is_right());
  EXPECT_TRUE(inner_of(after).udp_checksum_is_right());
}

}  // namespace
}  // namespace natxy::gateway::test
