// Tests the faults of fields with TCP segments: each field is changed alone, and the checksums are
// updated.
#include <gtest/gtest.h>

#include <string>

#include "gateway/faults/fault_time.hpp"
#include "gateway/tests/bench_gateway.hpp"

namespace natxy::gateway::test {
namespace {

constexpr std::size_t kTcpHeaderOctets = 40;  // with the option that holds the tester's stamp
constexpr std::size_t kDataOctets = 6;

// A TCP segment in a frame that make_udp() would make.
Bytes make_tcp(bool is_ipv6, std::size_t data_octets = kDataOctets) {
  UdpFrame wanted{.data_octets = kTcpHeaderOctets - kUdpOctets + data_octets};
  if (is_ipv6) {
    wanted.source = "2001:2::2";
    wanted.destination = "2001:2:0:8000::2";
  }
  auto frame = make_udp(wanted);
  auto* header = frame.data() + kEthernetOctets;
  header[is_ipv6 ? 6 : 9] = kTcp;
  if (!is_ipv6) {
    write16(header + 10, 0);
    write16(header + 10, checksum_of(sum_of({header, kIpv4Octets})));
  }
  auto* tcp = header + (is_ipv6 ? kIpv6Octets : kIpv4Octets);
  const auto octets = kTcpHeaderOctets + data_octets;
  write32(tcp + 4, 0x01020304);  // sequence number
  write32(tcp + 8, 0x05060708);
  tcp[12] = kTcpHeaderOctets / 4 << 4U;
  tcp[13] = 0x18;  // PSH and ACK
  write16(tcp + 14, 0xffff);
  write32(tcp + 16, 0);
  tcp[20] = 253;
  tcp[21] = 20;
  const auto sum = sum_of(ip(wanted.source)) + sum_of(ip(wanted.destination)) + kTcp + octets +
                   sum_of({tcp, octets});
  write16(tcp + 16, checksum_of(sum));
  return frame;
}

bool tcp_checksum_is_right(const Seen& seen) {
  const auto octets = seen.udp_octets();
  return checksum_of(sum_of(seen.source()) + sum_of(seen.destination()) + kTcp + octets +
                     sum_of({seen.udp(), octets})) == 0;
}

std::string order(const std::string& field, bool is_fixed = true) {
  return R"({"kind": "corrupt", "every": 1, "field": ")" + field + R"(", "fix_checksum": )" +
         (is_fixed ? "true}" : "false}");
}

Seen pass(const std::string& faults, const Bytes& frame) {
  BenchGateway bench(config_with(faults));
  bench.receive(Side::kLeft, frame, 1);
  return bench.departures().at(0).frame;
}

struct Expected {
  const char* field;
  std::size_t offset_ipv4;  // of the changed octet
  std::size_t offset_ipv6;
};

// TCP begins at 34 and 54.
constexpr Expected kExpected[] = {{"source_address", 29, 37}, {"destination_address", 33, 53},
                                  {"source_port", 35, 55},    {"destination_port", 37, 57},
                                  {"hop_limit", 22, 21},      {"payload", 79, 99},
                                  {"number", 65, 85},         {"sequence", 41, 61},
                                  {"tcp_flags", 47, 67}};

TEST(TcpCorruption, ChangesItsFieldAloneAndChecksumsFollowOrNot) {
  for (const bool is_ipv6 : {false, true}) {
    const auto before = pass("", make_tcp(is_ipv6));
    ASSERT_TRUE(tcp_checksum_is_right(before));
    for (const auto& [field, ipv4, ipv6] : kExpected) {
      SCOPED_TRACE(std::string(field) + (is_ipv6 ? " IPv6" : " IPv4"));
      const auto fixed = pass(order(field), make_tcp(is_ipv6));
      EXPECT_TRUE(fixed.ip_checksum_is_right());
      EXPECT_TRUE(tcp_checksum_is_right(fixed));
      const auto left = pass(order(field, false), make_tcp(is_ipv6));
      EXPECT_EQ(tcp_checksum_is_right(left), std::string(field) == "hop_limit");
      auto expected = before.frame;
      expected[is_ipv6 ? ipv6 : ipv4] ^= 1U;
      EXPECT_EQ(left.frame, expected);
    }
  }
}

TEST(TcpCorruption, OfTheLengthIsOfTheIpHeader) {
  for (const bool is_ipv6 : {false, true}) {
    const auto before = pass("", make_tcp(is_ipv6));
    const auto after = pass(order("length"), make_tcp(is_ipv6));
    EXPECT_EQ(after.frame.size(), before.frame.size() + 1);
    EXPECT_EQ(read16(after.ip_header() + (is_ipv6 ? 4 : 2)),
              after.frame.size() - 14 - (is_ipv6 ? 40 : 0));
    EXPECT_EQ(read32(after.udp() + 4), 0x01020304U);
    EXPECT_TRUE(after.ip_checksum_is_right());
    EXPECT_TRUE(tcp_checksum_is_right(after));
  }
}

TEST(TcpCorruption, WhatOnlyUdpOrOnlyTcpHasIsLeftAlone) {
  for (const bool is_ipv6 : {false, true}) {
    for (const auto* field : {"udp_checksum", "udp_length", "no_udp_checksum"}) {
      EXPECT_EQ(pass(order(field), make_tcp(is_ipv6)).frame, pass("", make_tcp(is_ipv6)).frame);
    }
    UdpFrame udp;
    if (is_ipv6) udp = {.source = "2001:2::2", .destination = "2001:2:0:8000::2"};
    for (const auto* field : {"sequence", "tcp_flags"}) {
      EXPECT_EQ(pass(order(field), make_udp(udp)).frame, pass("", make_udp(udp)).frame);
    }
  }
  EXPECT_EQ(pass(order("payload"), make_tcp(false, 0)).frame, pass("", make_tcp(false, 0)).frame);
}

// A header that says that it is longer than the segment.
TEST(TcpCorruption, OfASegmentThatIsNotWholeIsOfTheIpHeader) {
  auto cut = make_tcp(false);
  cut[46] = 0xf0;
  const auto before = pass("", cut);
  EXPECT_EQ(pass(order("sequence"), cut).frame, before.frame);
  EXPECT_NE(pass(order("hop_limit"), cut).frame, before.frame);
}

TEST(TcpCorruption, TheNumberIsInTheOption) {
  auto octets = make_tcp(true);
  for (std::size_t i = 0; i < 5; ++i) {
    octets[54 + 22 + 5 + i] = static_cast<std::uint8_t>(i + 1);
  }
  Frame frame;
  frame.octets = octets.data();
  frame.length = octets.size();
  EXPECT_EQ(number_of(frame), 0x0504030201U);
}

}  // namespace
}  // namespace natxy::gateway::test
