#include "flow/flow.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

namespace natxy::flow {
namespace {

using enum spec::SeriesMode;

TEST(Divider, EqualsDivisionEverywhereItMayBeAsked) {
  const std::vector<std::uint64_t> divisors{
      1, 2, 3, 7, 10, 64, 255, 64512, 65536, 4294967291ULL, 1ULL << 32U};
  for (const auto divisor : divisors) {
    const Divider by(divisor);
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      const auto dividend = i < 10'000 ? i : mix(i) >> 24U;
      const auto near = i % 3 == 0 ? dividend / divisor * divisor : dividend;
      const auto [quotient, remainder] = by.divide(near);
      ASSERT_EQ(quotient, near / divisor) << near << " / " << divisor;
      ASSERT_EQ(remainder, near % divisor);
    }
    for (std::uint64_t below = 1; below < 4; ++below) {
      const auto dividend = (1ULL << 40U) - below;
      ASSERT_EQ(by.divide(dividend).quotient, dividend / divisor);
    }
  }
}

TEST(Series, CountsUpDownAndStays) {
  const Series16 up(spec::Series{kIncreasing, 1024, 65535});
  const Series16 down(spec::Series{kDecreasing, 1024, 65535});
  const Series16 fixed(spec::Series{kFixed, 4096, 9999});
  for (std::uint64_t i = 0; i < 300'000; ++i) {
    ASSERT_EQ(up.at(i, ~0ULL), 1024 + i % 64512);
    ASSERT_EQ(down.at(i, ~0ULL), 65535 - i % 64512);
    ASSERT_EQ(fixed.at(i, mix(i)), 4096);
  }
  const auto far = (1ULL << 40U) - 1;
  EXPECT_EQ(up.at(far, 0), 1024 + far % 64512);
  EXPECT_EQ(down.at(far, 0), 65535 - far % 64512);
}

TEST(Series, PseudorandomCoversTheRangeEvenly) {
  const Series16 series(spec::Series{kPseudorandom, 100, 199});
  std::array<int, 100> seen{};
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const auto value = series.at(i, mix(i));
    ASSERT_GE(value, 100);
    ASSERT_LE(value, 199);
    ++seen[value - 100U];
  }
  for (const auto count : seen) EXPECT_NEAR(count, 1000, 200);
}

TEST(Permutation, IsABijectionOnEverySmallDomain) {
  for (std::uint32_t a = 1; a <= 40; ++a) {
    for (std::uint32_t b = 1; b <= 40; ++b) {
      const Permutation permutation(a, b, a * 100 + b);
      std::set<std::pair<std::uint64_t, std::uint64_t>> cells;
      for (std::uint64_t rank = 0; rank < a * b; ++rank) {
        const auto cell = permutation.at(rank);
        ASSERT_LT(cell.x, a);
        ASSERT_LT(cell.y, b);
        cells.insert({cell.x, cell.y});
      }
      ASSERT_EQ(cells.size(), std::size_t{a} * b);
    }
  }
}

TEST(Permutation, IsInvertedExactlyUpToTheLargestDomains) {
  for (std::uint32_t a = 1; a <= 12; ++a) {
    const Permutation small(a, 13 - a, a);
    for (std::uint64_t rank = 0; rank < a * (13U - a); ++rank) {
      ASSERT_EQ(small.rank_of(small.at(rank)), rank);
    }
  }
  for (const std::uint64_t a : {1ULL << 8U, 64512ULL, (1ULL << 20U) - 3, 1ULL << 32U}) {
    const auto b = (1ULL << 40U) / a;
    const Permutation large(a, b, a);
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      const auto rank = i < 1000 ? a * b - 1 - i : mix(i) % (a * b);
      ASSERT_EQ(large.rank_of(large.at(rank)), rank) << a << " x " << b;
    }
  }
}

TEST(Permutation, ScattersNeighbours) {
  const Permutation permutation(64512, 49151, 1);
  std::array<int, 16> sixteenths{};
  for (std::uint64_t rank = 0; rank < 16'000; ++rank) {
    ++sixteenths[permutation.at(rank).y / 3072 % 16];
  }
  for (const auto count : sixteenths) EXPECT_NEAR(count, 1000, 200);
}

spec::Traffic port_traffic(spec::Selection selection) {
  spec::Traffic traffic;
  traffic.selection = selection;
  traffic.source_port = {kPseudorandom, 1000, 1009};
  traffic.destination_port = {kPseudorandom, 20, 26};
  return traffic;
}

TEST(Flow, EnumeratesEveryPortPairOnceInEachOrder) {
  using enum spec::Selection;
  constexpr Shape kShape{.enumerated = true};
  for (const auto order : {kEnumerateIncreasing, kEnumerateDecreasing, kEnumeratePseudorandom}) {
    const Flow flow(port_traffic(order), 5);
    ASSERT_EQ(flow.combinations(), 70U);
    std::set<std::pair<int, int>> pairs;
    for (std::uint64_t i = 0; i < 70; ++i) {
      const auto values = flow.at<kShape>(i);
      ASSERT_TRUE(values.source_port >= 1000 && values.source_port <= 1009);
      ASSERT_TRUE(values.destination_port >= 20 && values.destination_port <= 26);
      pairs.insert({values.source_port, values.destination_port});
    }
    ASSERT_EQ(pairs.size(), 70U);
  }
  const Flow up(port_traffic(kEnumerateIncreasing), 5);
  const Flow down(port_traffic(kEnumerateDecreasing), 5);
  EXPECT_EQ(up.at<kShape>(0).source_port, 1000);
  EXPECT_EQ(up.at<kShape>(11).source_port, 1001);
  EXPECT_EQ(up.at<kShape>(11).destination_port, 21);
  EXPECT_EQ(up.at<kShape>(69), down.at<kShape>(0));
}

TEST(Flow, EnumeratesAddressesWithPorts) {
  constexpr Shape kShape{.addresses_vary = true, .enumerated = true};
  auto traffic = port_traffic(spec::Selection::kEnumeratePseudorandom);
  traffic.departure.source.field_byte = 2;
  traffic.source_field = {kIncreasing, 5, 7};
  const Flow flow(traffic, 5);
  ASSERT_EQ(flow.combinations(), 210U);
  std::set<std::tuple<int, int, int>> seen;
  for (std::uint64_t i = 0; i < 210; ++i) {
    const auto values = flow.at<kShape>(i);
    ASSERT_TRUE(values.source_field >= 5 && values.source_field <= 7);
    seen.insert({values.source_port, values.destination_port, values.source_field});
  }
  EXPECT_EQ(seen.size(), 210U);
}

TEST(Flow, TellsTheOrdinalOfWhatItEnumerated) {
  using enum spec::Selection;
  constexpr Shape kShape{.addresses_vary = true, .enumerated = true};
  for (const auto order : {kEnumerateIncreasing, kEnumerateDecreasing, kEnumeratePseudorandom}) {
    auto traffic = port_traffic(order);
    traffic.departure.source.field_byte = 2;
    traffic.source_field = {kIncreasing, 5, 7};
    traffic.departure.destination.field_byte = 2;
    traffic.destination_field = {kIncreasing, 0, 4};
    const Flow flow(traffic, 5);
    for (std::uint64_t i = 0; i < flow.combinations(); ++i) {
      ASSERT_EQ(flow.ordinal_of(flow.at<kShape>(i)), i);
    }
    auto foreign = flow.at<kShape>(0);
    foreign.source_field = 8;
    EXPECT_FALSE(flow.ordinal_of(foreign));
    foreign = flow.at<kShape>(0);
    foreign.destination_port = 19;
    EXPECT_FALSE(flow.ordinal_of(foreign));
  }
  const Flow independent(port_traffic(kIndependent), 5);
  EXPECT_FALSE(independent.ordinal_of(independent.at<Shape{}>(0)));
}

TEST(Flow, RepeatsFromTheSeedAndDiffersWithIt) {
  auto traffic = port_traffic(spec::Selection::kIndependent);
  traffic.source_port = {kPseudorandom, 1024, 65535};
  constexpr Shape kShape{};
  int same = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(Flow(traffic, 9).at<kShape>(i), Flow(traffic, 9).at<kShape>(i));
    same += Flow(traffic, 9).at<kShape>(i) == Flow(traffic, 10).at<kShape>(i) ? 1 : 0;
  }
  EXPECT_LT(same, 5);
}

TEST(Flow, ALotIsTheSameAsEachOrdinalForItself) {
  using enum spec::Selection;
  constexpr Shape kShape{.addresses_vary = true, .enumerated = true};
  for (const auto selection :
       {kIndependent, kEnumerateIncreasing, kEnumerateDecreasing, kEnumeratePseudorandom}) {
    auto traffic = port_traffic(selection);
    traffic.source_port = {kDecreasing, 1, 65535};
    traffic.departure.source.field_byte = 2;
    traffic.source_field = {kIncreasing, 0, 65535};
    const Flow flow(traffic, 5);
    for (std::uint64_t first = 0; first < 2'000'000'000; first = first * 3 + 1) {
      std::array<std::uint64_t, kMaxLot> ordinals;
      for (unsigned i = 0; i < kMaxLot; ++i) ordinals[i] = first + i * 7;
      ValueLot values;
      for (const unsigned n : {1U, 5U, kMaxLot}) {
        flow.fill<kShape>(ordinals.data(), n, values);
        for (unsigned i = 0; i < n; ++i) ASSERT_EQ(values.at(i), flow.at<kShape>(ordinals[i]));
      }
    }
  }
}

TEST(Flow, ChoosesAllNetworksAndFields) {
  spec::Traffic traffic;
  traffic.networks = 256;
  traffic.departure.destination.network_byte = 2;
  traffic.departure.source.field_byte = 0;
  traffic.source_field = {kPseudorandom, 0, 65535};
  const Flow flow(traffic, 1);
  ASSERT_TRUE(flow.shape().addresses_vary);
  std::set<int> networks;
  std::set<int> fields;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const auto values = flow.at<Shape{.addresses_vary = true}>(i);
    networks.insert(values.network);
    fields.insert(values.source_field);
  }
  EXPECT_EQ(networks.size(), 256U);
  EXPECT_GT(fields.size(), 9000U);
}

}  // namespace
}  // namespace natxy::flow
