// Tests that a corrupted field is wrong and all else is unchanged, and that checksums are updated
// if this is configured.
#include <gtest/gtest.h>

#include <string>

#include "gateway/tests/bench_gateway.hpp"

namespace natxy::gateway::test {
namespace {

class Corruption : public testing::Test {
 protected:
  // Calls `check(is_ipv6, index of the field, is_fixed)` for all cases except the fields whose
  // frames are not always wrong, which are the last ones.
  template <typename Check>
  static void for_all(Check check) {
    for (std::size_t i = 0; i < 4 * kCorruptFieldNames.size(); ++i) {
      if (static_cast<CorruptField>(i / 4) >= CorruptField::kNoUdpChecksum) continue;
      const bool is_ipv6 = i % 2 != 0;
      const bool is_fixed = i % 4 >= 2;
      SCOPED_TRACE(std::string(kCorruptFieldNames[i / 4]) + (is_ipv6 ? " IPv6" : " IPv4") +
                   (is_fixed ? " fixed" : ""));
      check(is_ipv6, i / 4, is_fixed);
    }
  }
  static UdpFrame frame(bool is_ipv6, std::size_t data_octets = 18) {
    if (!is_ipv6) return {.data_octets = data_octets};
    return {.source = "2001:2::2", .destination = "2001:2:0:8000::2", .data_octets = data_octets};
  }
  static Seen pass(const std::string& faults, const UdpFrame& wanted) {
    BenchGateway bench(config_with(faults));
    bench.receive(Side::kLeft, make_udp(wanted), 1);
    return bench.departures().at(0).frame;
  }
  static std::string order(std::size_t field, bool is_fixed) {
    return std::string(R"({"kind": "corrupt", "every": 1, "field": ")") +
           kCorruptFieldNames[field] + R"(", "fix_checksum": )" + (is_fixed ? "true" : "false") +
           "}";
  }
};

struct Expected {
  std::size_t offset_ipv4;  // of the changed octet
  std::size_t offset_ipv6;
};

// By CorruptField; data begin at 42 and 62, and have 18 octets.
constexpr Expected kExpected[] = {{29, 37}, {33, 53}, {35, 55}, {37, 57}, {22, 21}, {59, 79},
                                  {41, 61}, {25, 0},  {0, 0},   {39, 59}, {51, 71}};

TEST_F(Corruption, ChangesItsFieldAlone) {
  for_all([](bool is_ipv6, std::size_t index, bool is_fixed) {
    const auto field = static_cast<CorruptField>(index);
    const auto before = pass("", frame(is_ipv6));
    const auto after = pass(order(index, is_fixed), frame(is_ipv6));
    if (is_ipv6 && field == CorruptField::kIpChecksum) {
      EXPECT_EQ(before.frame, after.frame);
      return;
    }
    if (field == CorruptField::kLength) return;  // has its own test
    const auto offset = is_ipv6 ? kExpected[index].offset_ipv6 : kExpected[index].offset_ipv4;
    ASSERT_EQ(before.frame.size(), after.frame.size());
    const auto udp_checksum = is_ipv6 ? 60U : 40U;
    for (std::size_t i = 0; i < before.frame.size(); ++i) {
      const bool is_ip_checksum = !is_ipv6 && (i == 24 || i == 25);
      if (i == offset) {
        EXPECT_EQ(before.frame[i] ^ after.frame[i], 1) << i;
      } else if (is_fixed && (is_ip_checksum || i == udp_checksum || i == udp_checksum + 1)) {
        continue;  // may be updated
      } else {
        EXPECT_EQ(before.frame[i], after.frame[i]) << i;
      }
    }
  });
}

bool breaks_ip_checksum(CorruptField field) {
  return field == CorruptField::kSourceAddress || field == CorruptField::kDestinationAddress ||
         field == CorruptField::kHopLimit || field == CorruptField::kIpChecksum;
}

TEST_F(Corruption, ChecksumsFollowOrNot) {
  for_all([](bool is_ipv6, std::size_t index, bool is_fixed) {
    const auto field = static_cast<CorruptField>(index);
    const auto after = pass(order(index, is_fixed), frame(is_ipv6));
    if (is_ipv6 && field == CorruptField::kIpChecksum) return;
    const bool is_own_checksum =
        field == CorruptField::kUdpChecksum || field == CorruptField::kIpChecksum;
    const bool is_repaired = is_fixed && !is_own_checksum;
    EXPECT_EQ(
        after.ip_checksum_is_right(),
        is_ipv6 || is_repaired || (!breaks_ip_checksum(field) && field != CorruptField::kLength));
    const bool is_outside_udp =
        field == CorruptField::kHopLimit || field == CorruptField::kIpChecksum;
    EXPECT_EQ(after.udp_checksum_is_right(), is_repaired || is_outside_udp);
  });
}

TEST_F(Corruption, IsCounted) {
  for_all([](bool is_ipv6, std::size_t index, bool is_fixed) {
    BenchGateway bench(config_with(order(index, is_fixed)));
    bench.receive(Side::kLeft, make_udp(frame(is_ipv6)), 1);
    const bool has_field =
        !is_ipv6 || static_cast<CorruptField>(index) != CorruptField::kIpChecksum;
    for (std::size_t i = 0; i < kCorruptFieldNames.size(); ++i) {
      EXPECT_EQ(bench.forward().corrupted[i], i == index && has_field ? 1U : 0U);
    }
  });
}

// RFC 768: a checksum of 0 means that there is none. Nothing else changes.
TEST_F(Corruption, TakesTheUdpChecksumAway) {
  constexpr auto kField = static_cast<std::size_t>(CorruptField::kNoUdpChecksum);
  for (const bool is_ipv6 : {false, true}) {
    for (const bool is_fixed : {false, true}) {
      auto expected = pass("", frame(is_ipv6)).frame;
      const auto at = is_ipv6 ? 60U : 40U;
      ASSERT_NE(read16(expected.data() + at), 0);
      expected[at] = expected[at + 1] = 0;
      EXPECT_EQ(pass(order(kField, is_fixed), frame(is_ipv6)).frame, expected);
    }
    BenchGateway bench(config_with(order(kField, true)));
    bench.receive(Side::kLeft, make_udp(frame(is_ipv6)), 1);
    EXPECT_EQ(bench.forward().corrupted[kField], 1U);
  }
}

TEST_F(Corruption, OfTheTrafficClassChangesOneBit) {
  constexpr auto kField = static_cast<std::size_t>(CorruptField::kTrafficClass);
  for (const bool is_ipv6 : {false, true}) {
    auto expected = pass("", frame(is_ipv6)).frame;
    const auto after = pass(order(kField, true), frame(is_ipv6));
    EXPECT_TRUE(after.ip_checksum_is_right());
    EXPECT_TRUE(after.udp_checksum_is_right());
    expected[15] ^= 0x10U;
    if (!is_ipv6) std::copy_n(after.frame.begin() + 24, 2, expected.begin() + 24);  // the checksum
    EXPECT_EQ(after.frame, expected);
  }
}

// Returns an IPv6 frame with a Destination Options header, which has padding only.
Bytes with_options() {
  auto frame = make_udp({.source = "2001:2::2", .destination = "2001:2:0:8000::2"});
  const Bytes options{kUdp, 0, 1, 4, 0, 0, 0, 0};
  frame.insert(frame.begin() + 54, options.begin(), options.end());
  frame[20] = kDestinationOptions;
  write16(frame.data() + 18, static_cast<std::uint32_t>(frame.size() - 54));
  return frame;
}

TEST_F(Corruption, OfAnExtensionHeaderChangesItsLastOctet) {
  constexpr auto kField = static_cast<std::size_t>(CorruptField::kExtensionHeader);
  BenchGateway bench(config_with(order(kField, true)));
  auto expected = pass("", frame(true)).frame;
  bench.receive(Side::kLeft, make_udp(frame(true)), 1);  // has none
  EXPECT_EQ(bench.departures().at(0).frame.frame, expected);
  EXPECT_EQ(bench.forward().corrupted[kField], 0U);
  bench.receive(Side::kLeft, with_options(), 2);
  expected = with_options();
  expected[61] = 1;
  const auto& after = bench.departures().at(1).frame.frame;
  ASSERT_EQ(after.size(), expected.size());
  EXPECT_TRUE(std::equal(after.begin() + 22, after.end(), expected.begin() + 22));
  EXPECT_EQ(bench.forward().corrupted[kField], 1U);
}

// The checksum covers the same octets as without an extension header.
TEST_F(Corruption, BehindAnExtensionHeaderChecksumsFollowToo) {
  constexpr auto kField = static_cast<std::size_t>(CorruptField::kSourcePort);
  BenchGateway bench(config_with(order(kField, true)));
  bench.receive(Side::kLeft, with_options(), 1);
  const auto expected = pass(order(kField, true), frame(true)).frame;
  const auto& after = bench.departures().at(0).frame.frame;
  ASSERT_EQ(after.size(), expected.size() + 8);
  EXPECT_TRUE(std::equal(after.begin() + 62, after.end(), expected.begin() + 54));
}

TEST_F(Corruption, WithoutAWholeInnerHeaderIsOfTheOuterOne) {
  auto tunnel = make_udp(frame(true));
  tunnel[20] = kIpv4InIpv6;
  tunnel[54] = 0x4f;  // a header of 60 octets, of which 26 are there
  BenchGateway bench(config_with(order(static_cast<std::size_t>(CorruptField::kHopLimit), true)));
  bench.receive(Side::kLeft, tunnel, 1);
  EXPECT_EQ(bench.departures().at(0).frame.hop_limit(), 62);
}

class LengthCorruption : public Corruption {};

TEST_F(LengthCorruption, AddsAnOctetToBothLengths) {
  for (const bool is_ipv6 : {false, true}) {
    const auto before = pass("", frame(is_ipv6));
    const auto after =
        pass(order(static_cast<std::size_t>(CorruptField::kLength), true), frame(is_ipv6));
    EXPECT_EQ(after.frame.size(), before.frame.size() + 1);
    EXPECT_EQ(read16(after.udp() + 4), after.udp_octets());
    EXPECT_EQ(read16(after.ip_header() + (is_ipv6 ? 4 : 2)),
              after.frame.size() - 14 - (is_ipv6 ? 40 : 0));
    EXPECT_TRUE(after.ip_checksum_is_right());
    EXPECT_TRUE(after.udp_checksum_is_right());
  }
}

TEST_F(LengthCorruption, TakesAnOctetAwayAtTheMtu) {
  for (const bool is_ipv6 : {false, true}) {
    const std::size_t data = 1500 - 8 - (is_ipv6 ? 40 : 20);
    const auto after =
        pass(order(static_cast<std::size_t>(CorruptField::kLength), true), frame(is_ipv6, data));
    EXPECT_EQ(after.frame.size(), 14 + 1499U);
    EXPECT_EQ(read16(after.udp() + 4), after.udp_octets());
    EXPECT_TRUE(after.ip_checksum_is_right());
    EXPECT_TRUE(after.udp_checksum_is_right());
  }
}

TEST_F(Corruption, EveryKthFrameOnly) {
  BenchGateway bench(config_with(R"({"kind": "corrupt", "every": 4, "field": "source_port"})"));
  bench.receive_row(10, 1000);
  for (const auto& departure : bench.departures()) {
    const bool is_due = departure.frame.first_octet() % 4 == 0;
    EXPECT_EQ(read16(departure.frame.udp()), is_due ? 1001 : 1000);
  }
}

TEST_F(Corruption, OfAFrameThatIsCorruptedAlready) {
  const auto after = pass(order(static_cast<std::size_t>(CorruptField::kIpChecksum), false) + "," +
                              order(static_cast<std::size_t>(CorruptField::kSourcePort), true),
                          frame(false));
  EXPECT_EQ(read16(after.udp()), 1001);
  EXPECT_FALSE(after.ip_checksum_is_right());
  EXPECT_TRUE(after.udp_checksum_is_right());
}

}  // namespace
}  // namespace natxy::gateway::test
