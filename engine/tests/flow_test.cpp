#include "flow/flow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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
      for (const auto dividend :
           {(1ULL << 40U) - below, ~0ULL - below + 1, ~0ULL / divisor * divisor - below}) {
        ASSERT_EQ(by.divide(dividend).quotient, dividend / divisor);
        ASSERT_EQ(by.divide(dividend).remainder, dividend % divisor);
      }
    }
  }
}

TEST(NarrowDivider, EqualsDivisionUpToAQuotientOf16Bits) {
  for (std::uint32_t divisor = 1; divisor <= 65536; divisor += divisor < 300 ? 1 : 233) {
    const NarrowDivider by(divisor);
    const auto most = (std::uint64_t{divisor} << 16U) - 1;
    for (std::uint64_t i = 0; i < 300; ++i) {
      const auto near = mix(i) % (most + 1) / divisor * divisor + i % 3 - (i % 3 == 2 ? 3 : 0);
      const auto dividend = static_cast<std::uint32_t>(i == 0 ? most : std::min(near, most));
      ASSERT_EQ(by.divide(dividend).quotient, dividend / divisor) << dividend << " / " << divisor;
      ASSERT_EQ(by.divide(dividend).remainder, dividend % divisor);
    }
  }
  const NarrowDivider by_most(65536);
  EXPECT_EQ(by_most.divide(~0U).quotient, 65535U);
}

TEST(Series, CountsUpDownAndStays) {
  const Series up(spec::Series{kIncreasing, 1024, 65535});
  const Series down(spec::Series{kDecreasing, 1024, 65535});
  const Series fixed(spec::Series{kFixed, 4096, 9999});
  for (std::uint64_t i = 0; i < 300'000; ++i) {
    ASSERT_EQ(up.at(i, ~0ULL), 1024 + i % 64512);
    ASSERT_EQ(down.at(i, ~0ULL), 65535 - i % 64512);
    ASSERT_EQ(fixed.at(i, mix(i)), 4096U);
  }
  const auto far = (1ULL << 40U) - 1;
  EXPECT_EQ(up.at(far, 0), 1024 + far % 64512);
  EXPECT_EQ(down.at(far, 0), 65535 - far % 64512);
}

TEST(Series, CountsFieldsOfAlmost24Bits) {
  constexpr std::uint32_t kValues = (1U << 24U) - 3;
  const Series up(spec::Series{kIncreasing, 0, kValues - 1});
  const Series down(spec::Series{kDecreasing, 0, kValues - 1});
  const Series all(spec::Series{kIncreasing, 0, (1U << 24U) - 1});
  const std::uint64_t last = (std::uint64_t{1} << 63U) / kValues - 1;  // validation allows no more
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    for (const auto ordinal : {i, last - i, mix(i) % last}) {
      ASSERT_EQ(up.at(ordinal, 0), ordinal % kValues) << ordinal;
      ASSERT_EQ(down.at(ordinal, 0), kValues - 1 - ordinal % kValues) << ordinal;
    }
    const auto ordinal = (1ULL << 40U) - 1 - i;
    ASSERT_EQ(all.at(ordinal, 0), ordinal % (1U << 24U));
  }
}

TEST(Series, PseudorandomCoversTheRangeEvenly) {
  const Series series(spec::Series{kPseudorandom, 100, 199});
  std::array<int, 100> seen{};
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const auto value = series.at(i, mix(i));
    ASSERT_GE(value, 100U);
    ASSERT_LE(value, 199U);
    ++seen[value - 100U];
  }
  for (const auto count : seen) EXPECT_NEAR(count, 1000, 200);
}

TEST(Permutation, IsABijectionOfEverySmallSize) {
  for (std::uint64_t size = 1; size <= 600; ++size) {
    const Permutation permutation(size, size * 100);
    std::set<std::uint64_t> ranks;
    for (std::uint64_t rank = 0; rank < size; ++rank) {
      const auto permuted = permutation.at(rank);
      ASSERT_LT(permuted, size);
      ranks.insert(permuted);
    }
    ASSERT_EQ(ranks.size(), size);
  }
}

TEST(Permutation, IsInvertedExactlyUpToTheLargestSizes) {
  for (std::uint64_t size = 1; size <= 130; ++size) {
    const Permutation small(size, size);
    for (std::uint64_t rank = 0; rank < size; ++rank) {
      ASSERT_EQ(small.rank_of(small.at(rank)), rank);
    }
  }
  for (const std::uint64_t size :
       {40'000ULL, (1ULL << 32U) - 5, 1ULL << 32U, (1ULL << 40U) - 3, 1ULL << 63U, ~0ULL}) {
    const Permutation large(size, size);
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      const auto rank = i < 1000 ? size - 1 - i : mix(i) % size;
      ASSERT_LT(large.at(rank), size);
      ASSERT_EQ(large.rank_of(large.at(rank)), rank) << size;
    }
  }
}

// Sizes just above a power of 4 have the most cells outside.
TEST(Permutation, IsTheSameForALotAndIn32Bits) {
  for (const std::uint64_t size :
       {1ULL, 2ULL, 17ULL, 65ULL, 40'000ULL, 1'048'577ULL, 1ULL << 32U}) {
    const Permutation permutation(size, 9);
    for (std::uint64_t first = 0; first < 20'000; first += kMaxLot) {
      std::array<std::uint32_t, kMaxLot> narrow;
      std::array<std::uint64_t, kMaxLot> wide;
      for (unsigned i = 0; i < kMaxLot; ++i) {
        wide[i] = mix(first + i) % size;
        narrow[i] = static_cast<std::uint32_t>(wide[i]);
      }
      const auto ranks = wide;
      permutation.permute(narrow.data(), kMaxLot);
      permutation.permute(wide.data(), kMaxLot);
      for (unsigned i = 0; i < kMaxLot; ++i) {
        ASSERT_EQ(wide[i], permutation.at(ranks[i])) << size;
        ASSERT_EQ(narrow[i], wide[i]) << size;
      }
    }
  }
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

// A stream with two kinds uses the wider shape for both. The ordinal of a corrupt frame is handled
// too.
TEST(Flow, EnumeratesPortsAloneTheSameInEitherShape) {
  constexpr Shape kNarrow{.enumerated = true};
  constexpr Shape kWide{.addresses_vary = true, .enumerated = true};
  using enum spec::Selection;
  for (const auto order : {kEnumerateIncreasing, kEnumerateDecreasing, kEnumeratePseudorandom}) {
    auto traffic = port_traffic(order);
    for (const auto last : std::vector<std::uint16_t>{1000, 1009, 65535}) {
      traffic.source_port.max = last;
      const Flow flow(traffic, 5);
      for (std::uint64_t i = 0; i < std::min<std::uint64_t>(flow.combinations(), 10'000); ++i) {
        ASSERT_EQ(flow.at<kNarrow>(i), flow.at<kWide>(i));
      }
      const auto beyond = flow.at<kWide>(1ULL << 40U);
      EXPECT_EQ(beyond, flow.at<kWide>(flow.combinations() - 1));
    }
  }
}

// With 65,536 ports and fields each, there are more combinations than ordinals in any stream.
TEST(Flow, DecreasesFromMoreCombinationsThanFramesAStream) {
  constexpr Shape kShape{.addresses_vary = true, .enumerated = true};
  spec::Traffic traffic;
  traffic.selection = spec::Selection::kEnumerateDecreasing;
  traffic.departure.source.field = spec::field_at(2);
  traffic.source_port = traffic.source_field = {kIncreasing, 0, 65535};
  traffic.destination_port = {kIncreasing, 0, 65534};
  const Flow flow(traffic, 5);
  EXPECT_EQ(flow.at<kShape>(0), (Values{65535, 65534, 65535, 0, 0}));
  EXPECT_EQ(flow.at<kShape>(65536), (Values{65535, 65534, 65534, 0, 0}));
}

TEST(Flow, EnumeratesAddressesWithPorts) {
  constexpr Shape kShape{.addresses_vary = true, .enumerated = true};
  auto traffic = port_traffic(spec::Selection::kEnumeratePseudorandom);
  traffic.departure.source.field = spec::field_at(2);
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
    traffic.departure.source.field = spec::field_at(2);
    traffic.source_field = {kIncreasing, 5, 7};
    traffic.departure.destination.field = spec::field_at(2);
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

TEST(Flow, APseudorandomEnumerationDiffersWithTheSeed) {
  auto traffic = port_traffic(spec::Selection::kEnumeratePseudorandom);
  traffic.source_port = {kIncreasing, 1024, 65535};
  constexpr Shape kShape{.enumerated = true};
  const Flow flow(traffic, 9);
  const Flow other(traffic, 10);
  int same = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) same += flow.at<kShape>(i) == other.at<kShape>(i);
  EXPECT_LT(same, 5);
}

TEST(Flow, ALotIsTheSameAsEachOrdinalForItself) {
  using enum spec::Selection;
  constexpr Shape kShape{.addresses_vary = true, .enumerated = true};
  for (const auto selection :
       {kIndependent, kEnumerateIncreasing, kEnumerateDecreasing, kEnumeratePseudorandom}) {
    auto traffic = port_traffic(selection);
    traffic.source_port = {kDecreasing, 1, 65535};
    traffic.departure.source.field = spec::field_at(2);
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
  traffic.departure.source.field = spec::field_at(0);
  traffic.source_field = {kPseudorandom, 0, 65535};
  const Flow flow(traffic, 1);
  ASSERT_TRUE(flow.shape().addresses_vary);
  std::set<int> networks;
  std::set<std::uint32_t> fields;
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
