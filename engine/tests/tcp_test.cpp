// Tests the segments of TCP connections: numbers that fit together, and frames that are judged.
#include "frame/tcp.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "frame/arrival.hpp"
#include "frame/departure.hpp"
#include "traffic_cases.hpp"

namespace natxy::frame {
namespace {

using spec::IpVersion;
using spec::Order;
using spec::Role;
using enum spec::TcpSegment;

constexpr std::uint64_t kSeed = 77;

TcpNumbers numbers(Role role, spec::TcpSegment segment) {
  return TcpNumbers({.role = role, .order = Order::kLinear, .segment = segment}, kSeed);
}
std::uint32_t sequence(Role role, spec::TcpSegment segment, std::uint32_t connection) {
  return __builtin_bswap32(numbers(role, segment).sequence(connection));
}
std::uint32_t acknowledgement(Role role, spec::TcpSegment segment, std::uint32_t connection) {
  return __builtin_bswap32(numbers(role, segment).acknowledgement(connection));
}

TEST(TcpNumbers, AcknowledgeWhatTheOtherSideHasSent) {
  using enum Role;
  for (const std::uint32_t j : {0U, 1U, 12345U, 0xfffffffeU, 0xffffffffU}) {
    const auto a = sequence(kEstablish, kSyn, j);
    const auto b = sequence(kRespond, kSyn, j);
    EXPECT_EQ(sequence(kInitiate, kSyn, j), a) << "sent again";
    EXPECT_EQ(acknowledgement(kEstablish, kSyn, j), 0U);
    EXPECT_EQ(acknowledgement(kRespond, kSyn, j), a + 1);
    for (const auto segment : {kAck, kFin, kRst}) {
      EXPECT_EQ(sequence(kInitiate, segment, j), a + 1);
      EXPECT_EQ(acknowledgement(kInitiate, segment, j), b + 1);
      EXPECT_EQ(sequence(kRespond, segment, j), b + 1);
    }
    EXPECT_EQ(acknowledgement(kRespond, kAck, j), a + 1);
    EXPECT_EQ(acknowledgement(kRespond, kFin, j), a + 2) << "the initiator's FIN";
    EXPECT_EQ(sequence(kInitiate, kLastAck, j), a + 2);
    EXPECT_EQ(acknowledgement(kInitiate, kLastAck, j), b + 2);
  }
}

TEST(TcpNumbers, DifferBetweenConnectionsSidesAndSeeds) {
  std::set<std::uint32_t> seen;
  for (std::uint32_t j = 0; j < 10'000; ++j) seen.insert(sequence(Role::kEstablish, kSyn, j));
  EXPECT_EQ(seen.size(), 10'000U);
  EXPECT_NE(sequence(Role::kEstablish, kSyn, 0), sequence(Role::kRespond, kSyn, 0));
  const TcpNumbers other({.role = Role::kEstablish, .order = Order::kLinear, .segment = kSyn},
                         kSeed + 1);
  EXPECT_NE(other.sequence(0), numbers(Role::kEstablish, kSyn).sequence(0));
}

class TcpFrames : public testing::TestWithParam<IpVersion> {
 protected:
  static constexpr flow::Shape kShape{
      .addresses_vary = true, .enumerated = true, .connected = true, .tcp = true};

  // The responder's data, so that nothing is learned from the frame.
  static spec::Traffic traffic() {
    auto traffic = tests::traffic(GetParam(), GetParam());
    for (auto* end : {&traffic.departure, &traffic.arrival}) {
      end->transport = spec::Transport::kTcp;
      end->frame_size_bytes = 200;
    }
    traffic.connections =
        spec::Connections{.role = Role::kRespond, .order = Order::kLinear, .segment = kAck};
    return traffic;
  }

  // Returns which of the frames are right on arrival. Each is that of connection 9.
  std::uint32_t judge(const std::vector<std::uint8_t>& octets) {
    ArrivalLot lot;
    const auto claimed =
        Layouts({&traffic_}, 0)
            .claim(octets.data(), static_cast<std::uint32_t>(octets.size()), tag_of(1));
    if (claimed.layout == nullptr) return 0;
    lot.add(claimed);
    flow::ValueLot values;
    flow_.fill<kShape>(&kConnection, 1, values);
    return arrival_.judge<kShape>(lot, values, tests::kUsualHopLimits).right;
  }
  std::vector<std::uint8_t> frame() {
    auto traffic = traffic_;
    traffic.connections->role = Role::kInitiate;  // writes the destination from the values
    const Departure departure(traffic, {}, numbers(Role::kRespond, kAck));
    auto octets = departure.octets();
    flow::ValueLot values;
    flow_.fill<kShape>(&kConnection, 1, values);
    StampLot stamps;
    const std::uint32_t lateness = 5;
    stamps.fill(tag_of(1), StreamId(0), &kConnection, &lateness, 1);
    stamps.set_connections(&kConnection, 1);
    auto* at = octets.data();
    departure.patch<kShape>(&at, 1, values, stamps);
    return octets;
  }

  static constexpr std::uint64_t kConnection = 9;
  spec::Traffic traffic_ = traffic();
  flow::Flow flow_{traffic_, 3};
  Arrival arrival_{traffic_, {}, numbers(Role::kRespond, kAck)};
};

TEST_P(TcpFrames, AreJudgedOctetByOctet) {
  const auto right = frame();
  EXPECT_EQ(judge(right), 1U);
  const auto& layout = layout_of(traffic_.arrival, 0);
  for (std::size_t at = layout.upper; at < right.size(); ++at) {
    auto octets = right;
    octets[at] ^= 0x10;
    EXPECT_EQ(judge(octets), 0U) << at;
  }
}

// With a checksum that is corrected, so that only the comparison can notice the change.
TEST_P(TcpFrames, BothNumbersAreCompared) {
  const auto& layout = layout_of(traffic_.arrival, 0);
  for (const std::size_t at : {4U, 5U, 6U, 7U, 8U, 9U, 10U, 11U, 12U, 13U, 14U, 15U, 18U, 19U}) {
    auto octets = frame();
    auto* upper = octets.data() + layout.upper;
    const auto before = sum_words(upper + at / 2 * 2, 2);
    upper[at] ^= 1;
    const auto after = sum_words(upper + at / 2 * 2, 2);
    const auto checksum = static_cast<std::uint16_t>(~load<std::uint16_t>(upper + 16));
    const auto corrected = fold(checksum + (0xffffU - before) + after);
    store(upper + 16, static_cast<std::uint16_t>(~corrected));
    const Claimed claimed{.frame = octets.data(),
                          .size = static_cast<std::uint32_t>(octets.size()),
                          .layout = &layout,
                          .stamp = Stamp::read(octets.data() + layout.stamp)};
    EXPECT_NE(defect_of_form(claimed, false), Defect::kChecksum) << at;
    EXPECT_EQ(judge(octets), 0U) << at;
  }
}

INSTANTIATE_TEST_SUITE_P(Some, TcpFrames, testing::Values(IpVersion::k4, IpVersion::k6));

}  // namespace
}  // namespace natxy::frame
