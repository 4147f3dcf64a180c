#include <gtest/gtest.h>

#include <array>

#include "frame/arrival.hpp"
#include "frame/departure.hpp"
#include "patched_frame.hpp"
#include "traffic_cases.hpp"

namespace natxy::frame {
namespace {

using spec::IpVersion;

// Computes the Internet checksum by its definition, octet by octet in network order.
std::uint16_t plain_checksum(const std::vector<std::uint8_t>& octets) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < octets.size(); ++i) sum += i % 2 == 0 ? octets[i] << 8U : octets[i];
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16U);
  return static_cast<std::uint16_t>(~sum);
}

std::vector<std::uint8_t> with_pseudo_header(const std::vector<std::uint8_t>& frame,
                                             const Layout& layout) {
  std::vector<std::uint8_t> octets(frame.begin() + layout.source, frame.end());
  const auto udp_octets = frame.size() - layout.upper;
  for (const auto octet : {udp_octets >> 8U, udp_octets & 0xff, std::size_t{0}, std::size_t{17}}) {
    octets.push_back(static_cast<std::uint8_t>(octet));
  }
  return octets;
}

// A sum of words may have a carry out of each of its halves, and another one when that is added.
// Few sums of real frames have the last one.
TEST(Fold, AddsEachCarry) {
  constexpr std::array<std::uint64_t, 6> kWords = {0, 1, 0x7fff, 0x8000, 0xfffe, 0xffff};
  for (const auto a : kWords) {
    for (const auto b : kWords) {
      for (const auto c : kWords) {
        for (const auto d : kWords) {
          auto expected = a + b + c + d;
          while (expected > 0xffff) expected = (expected & 0xffff) + (expected >> 16U);
          const auto sum = a << 48U | b << 32U | c << 16U | d;
          ASSERT_EQ(fold(sum), expected) << std::hex << sum;
        }
      }
    }
  }
}

class Departures : public testing::TestWithParam<std::tuple<bool, IpVersion, int>> {};

TEST_P(Departures, AreCorrectFramesForEveryNumber) {
  const auto& [varied, version, size] = GetParam();
  const auto traffic = tests::sized(
      varied ? tests::varied_traffic(version, version) : tests::traffic(version, version), size);
  const Departure departure(traffic, {});
  const flow::Flow flow(traffic, 3);
  const auto& layout = layout_of(version);
  auto octets = departure.octets();  // one buffer, patched repeatedly like those of a pool
  ASSERT_EQ(octets.size(), traffic.departure.frame_size_bytes - 4U);
  const std::uint64_t numbers = size > 1000 ? 2'000 : 20'000;  // long frames take more time
  for (std::uint64_t number = 0; number < numbers; ++number) {
    constexpr flow::Shape kVaried{.addresses_vary = true};
    if (varied) {
      patch<kVaried>(departure, flow, octets, number);
    } else {
      patch<flow::Shape{}>(departure, flow, octets, number);
    }
    // Sizes are even here, because an odd number of octets would shift the pseudo-header's words.
    ASSERT_EQ(plain_checksum(with_pseudo_header(octets, layout)), 0) << number;
    if (version == IpVersion::k4) {
      ASSERT_EQ(plain_checksum({octets.begin() + 14, octets.begin() + 34}), 0) << number;
    }
    const auto claimed =
        Layouts().claim(octets.data(), static_cast<std::uint32_t>(octets.size()), tag_of(1));
    ASSERT_NE(claimed.layout, nullptr);
    ASSERT_EQ(defect_of_form(claimed, false), Defect::kNone);
    ASSERT_EQ(claimed.stamp.number(), number * 977);
    ASSERT_EQ(claimed.stamp.lateness(), number * 31);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Departures,
                         testing::Combine(testing::Bool(),
                                          testing::Values(IpVersion::k4, IpVersion::k6),
                                          testing::Values(84, 128, 512, 1518, 9000)));

TEST(Departure, HasTheHopLimitAndTheDfBitThatTheSpecNames) {
  for (const auto version : {IpVersion::k4, IpVersion::k6}) {
    auto traffic = tests::traffic(version, version);
    const auto usual = Departure(traffic, {}).octets();
    traffic.hop_limit = 10;
    traffic.dont_fragment = false;
    const auto other = Departure(traffic, {}).octets();
    EXPECT_EQ(usual[layout_of(version).hop_limit], 64);
    EXPECT_EQ(other[layout_of(version).hop_limit], 10);
    if (version == IpVersion::k6) continue;
    EXPECT_EQ(usual[20], 0x40);
    EXPECT_EQ(other[20], 0);
    EXPECT_EQ(plain_checksum({other.begin() + 14, other.begin() + 34}), 0);
  }
}

// RFC 6864: what may be fragmented has an identification that its neighbours do not have.
TEST(Departure, WithoutDfEachFrameHasAnIdentification) {
  for (const bool varied : {false, true}) {
    const auto traffic = varied ? tests::varied_traffic(IpVersion::k4, IpVersion::k4)
                                : tests::traffic(IpVersion::k4, IpVersion::k4);
    auto fragmentable = traffic;
    fragmentable.dont_fragment = false;
    for (const auto& each : {traffic, fragmentable}) {
      const Departure departure(each, {});
      const flow::Flow flow(each, 3);
      auto octets = departure.octets();
      for (std::uint64_t number = 0; number < 1000; ++number) {
        if (varied) {
          patch<flow::Shape{.addresses_vary = true}>(departure, flow, octets, number);
        } else {
          patch<flow::Shape{}>(departure, flow, octets, number);
        }
        const auto expected = each.dont_fragment ? 0 : number * 977 % 65536;
        ASSERT_EQ(octets[18] << 8U | octets[19], expected);
        ASSERT_EQ(plain_checksum({octets.begin() + 14, octets.begin() + 34}), 0) << number;
      }
    }
  }
}

class ZeroChecksums : public testing::TestWithParam<std::tuple<bool, IpVersion, IpVersion>> {
 protected:
  static constexpr flow::Shape kShape{.addresses_vary = true};
  // Returns how many of the frames must arrive with a UDP checksum of ffff, by its definition.
  [[nodiscard]] int count(bool avoid) const {
    const auto& [varied, from, to] = GetParam();
    auto traffic = varied ? tests::varied_traffic(from, to) : tests::traffic(from, to);
    traffic.avoid_zero_checksum = avoid;
    auto as_arrival = traffic;
    as_arrival.departure = traffic.arrival;
    const Departure departure(traffic, {});
    const Departure arrival(as_arrival, {});
    const flow::Flow flow(traffic, 3);
    auto octets = arrival.octets();
    auto* frame = octets.data();
    int zeros = 0;
    for (std::uint64_t number = 0; number < 150'000; ++number) {
      flow::ValueLot values;
      flow.fill<kShape>(&number, 1, values);
      const auto lateness = static_cast<std::uint32_t>(number % 1000);
      StampLot stamps;
      stamps.fill(tag_of(1), StreamId(0), &number, &lateness, 1);
      if (departure.avoids_zero_checksum()) {
        departure.avoid_zero_checksum<kShape>(values, stamps, 1);
      }
      arrival.patch<kShape>(&frame, 1, values, stamps);
      zeros += read16(frame + layout_of(to).upper + 6) == 0xffff ? 1 : 0;
    }
    return zeros;
  }
};

TEST_P(ZeroChecksums, AreAvoidedWhereAskedFor) {
  EXPECT_GT(count(false), 0);
  EXPECT_EQ(count(true), 0);
}

INSTANTIATE_TEST_SUITE_P(All, ZeroChecksums,
                         testing::Combine(testing::Bool(),
                                          testing::Values(IpVersion::k4, IpVersion::k6),
                                          testing::Values(IpVersion::k4, IpVersion::k6)));

TEST(Stamp, CarriesAllOfEachMember) {
  const auto stamp =
      Stamp::make(0xdeadbeef, StreamId(spec::Direction::kReverse, spec::Kind::kBackground, 5, true),
                  (1ULL << 40U) - 2, 0x87654321, 0xfedcba98);
  std::array<std::uint8_t, kStampOctets> octets{};
  stamp.write(octets.data());
  const auto read = Stamp::read(octets.data());
  EXPECT_EQ(read.tag(), 0xdeadbeef);
  EXPECT_EQ(read.number(), (1ULL << 40U) - 2);
  EXPECT_EQ(read.connection(), 0x87654321U);
  EXPECT_EQ(read.lateness(), 0xfedcba98U);
  EXPECT_TRUE(read.stream().probe());
  EXPECT_EQ(read.stream().direction(), spec::Direction::kReverse);
  EXPECT_EQ(read.stream().kind(), spec::Kind::kBackground);
}

class Arrivals : public testing::TestWithParam<std::tuple<bool, IpVersion>> {
 protected:
  // The frame of ordinal 7 as it must arrive, made as a departure with the arrival's addresses.
  Arrivals() {
    const auto& [varied, version] = GetParam();
    traffic_ = tests::sized(
        varied ? tests::varied_traffic(version, version) : tests::traffic(version, version), 128);
    const Departure departure(traffic_, {});
    values_ = flow::Flow(traffic_, 3).at<kShape>(7);
    octets_ = departure.octets();
    patch<kShape>(departure, flow::Flow(traffic_, 3), octets_, 7);
    layout_ = &layout_of(version);
  }
  Defect check(HopLimits hop_limits = tests::kUsualHopLimits) {
    const auto claimed =
        Layouts().claim(octets_.data(), static_cast<std::uint32_t>(octets_.size()), tag_of(1));
    return Arrival(traffic_, {}).check(claimed, values_, hop_limits);
  }
  static constexpr flow::Shape kShape{.addresses_vary = true};
  spec::Traffic traffic_;
  flow::Values values_{};
  std::vector<std::uint8_t> octets_;
  const Layout* layout_ = nullptr;
};

TEST_P(Arrivals, RightFramesPass) {
  EXPECT_EQ(check(), Defect::kNone);
}

TEST_P(Arrivals, EveryOctetOfAddressesAndPortsIsChecked) {
  for (auto at = layout_->source; at < layout_->upper + 4; ++at) {
    octets_[at] ^= 0x10;
    EXPECT_EQ(check(), at < layout_->upper ? Defect::kAddress : Defect::kPort) << at;
    octets_[at] ^= 0x10;
  }
  EXPECT_EQ(check({.inner = spec::kUsualHopLimit - 1}), Defect::kHopLimit);
  octets_.push_back(0);
  EXPECT_EQ(check(), Defect::kLength);
}

TEST_P(Arrivals, EveryOctetBehindTheMacAddressesIsCheckedByOneOfTheChecks) {
  for (std::size_t at = 14; at < octets_.size(); ++at) {
    const bool label = layout_->ip_version == IpVersion::k6 && at >= 15 && at < 18;
    const bool hop = layout_->ip_version == IpVersion::k6 && at == layout_->hop_limit;
    const bool class_high = layout_->ip_version == IpVersion::k6 && at == 14;
    if (label || hop || class_high)
      continue;  // no checksum covers traffic class and flow label, which may change
    octets_[at] ^= 0x10;
    const auto claimed =
        Layouts().claim(octets_.data(), static_cast<std::uint32_t>(octets_.size()), tag_of(1));
    const bool noticed = claimed.layout == nullptr ||
                         defect_of_form(claimed, true) != Defect::kNone || check() != Defect::kNone;
    EXPECT_TRUE(noticed) << at;
    octets_[at] ^= 0x10;
  }
}

// The fast check of a lot and the single checks agree, whichever octet is wrong.
TEST_P(Arrivals, TheQuickCheckAgreesWithTheOthers) {
  const Arrival arrival(traffic_, {});
  for (std::size_t at = 14; at < octets_.size(); ++at) {
    for (const unsigned flip : {0x00U, 0x01U, 0x10U, 0x40U, 0xffU}) {
      octets_[at] = static_cast<std::uint8_t>(octets_[at] ^ flip);
      const auto claimed =
          Layouts().claim(octets_.data(), static_cast<std::uint32_t>(octets_.size()), tag_of(1));
      if (claimed.layout != nullptr) {
        const auto form = defect_of_form(claimed, arrival.may_lack_checksum());
        const bool slow = form == Defect::kNone &&
                          arrival.check(claimed, values_, tests::kUsualHopLimits) == Defect::kNone;
        ArrivalLot lot;
        lot.add(claimed);
        flow::ValueLot values;
        values.set(0, values_);
        const auto judgement = arrival.judge<kShape>(lot, values, tests::kUsualHopLimits);
        EXPECT_EQ(judgement.right, slow ? 1U : 0U) << at;
        EXPECT_EQ(judgement.without_checksum, 0U) << at;
      }
      octets_[at] = static_cast<std::uint8_t>(octets_[at] ^ flip);
    }
  }
}

// RFC 768: over IPv4, a UDP checksum of 0 means that there is none; over IPv6, it is an error.
TEST_P(Arrivals, AUdpChecksumMayBeAbsentOverIpv4) {
  const bool four = layout_->ip_version == IpVersion::k4;
  octets_[layout_->upper + 6U] = octets_[layout_->upper + 7U] = 0;
  for (const bool required : {false, true}) {
    traffic_.udp_checksum_required = required;
    const Arrival arrival(traffic_, {});
    for (const bool wrong_port : {false, true}) {
      octets_[layout_->upper + 3U] ^= wrong_port ? 1 : 0;
      const auto claimed =
          Layouts().claim(octets_.data(), static_cast<std::uint32_t>(octets_.size()), tag_of(1));
      EXPECT_EQ(defect_of_form(claimed, arrival.may_lack_checksum()),
                four && !required ? Defect::kNone : Defect::kChecksum);
      ArrivalLot lot;
      lot.add(claimed);
      flow::ValueLot values;
      values.set(0, values_);
      const auto judgement = arrival.judge<kShape>(lot, values, tests::kUsualHopLimits);
      EXPECT_EQ(judgement.right, four && !required && !wrong_port ? 1U : 0U);
      EXPECT_EQ(judgement.without_checksum, 1U);
      octets_[layout_->upper + 3U] ^= wrong_port ? 1 : 0;
    }
  }
}

TEST_P(Arrivals, ShortFramesAreNotReadBeyondTheirEnd) {
  for (std::uint32_t size = 0; size < layout_->min_octets(); ++size) {
    const std::vector<std::uint8_t> cut(octets_.begin(), octets_.begin() + size);
    EXPECT_EQ(Layouts().claim(cut.data(), size, tag_of(1)).layout, nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Arrivals,
                         testing::Combine(testing::Bool(),
                                          testing::Values(IpVersion::k4, IpVersion::k6)));

}  // namespace
}  // namespace natxy::frame
