// Tests whether a pseudorandom enumeration can be distinguished from a true shuffle, by rank
// correlations and by the steps between frames; also for ranges with one small half.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include "flow/flow.hpp"

namespace natxy::flow {
namespace {

constexpr std::uint64_t kFrames = 2000;
constexpr unsigned kSeeds = 100;
constexpr double kBand = 2.576;       // 99 % of a normal distribution
constexpr unsigned kMostOutside = 6;  // of 100 seeds; 1 is expected, 7 occur once in 10,000 tests
constexpr double kMostBias = 4;       // of the mean over all seeds, in standard deviations

struct Ranges {
  std::uint32_t sources;
  std::uint32_t destinations;
  [[nodiscard]] std::uint64_t combinations() const { return std::uint64_t{sources} * destinations; }
  [[nodiscard]] std::uint64_t frames() const { return std::min(combinations(), kFrames); }
};

struct Order {
  std::vector<double> source;
  std::vector<double> destination;
  void add(std::uint64_t its_source, std::uint64_t its_destination) {
    source.push_back(static_cast<double>(its_source));
    destination.push_back(static_cast<double>(its_destination));
  }
};

Order enumerated(const Ranges& ranges, std::uint64_t seed, std::uint64_t stride) {
  constexpr std::uint16_t kLowest = 7;
  const auto series = [](std::uint32_t values) {
    return spec::Series{spec::SeriesMode::kPseudorandom, kLowest,
                        static_cast<std::uint16_t>(kLowest + values - 1)};
  };
  spec::Traffic traffic;
  traffic.selection = spec::Selection::kEnumeratePseudorandom;
  traffic.source_port = series(ranges.sources);
  traffic.destination_port = series(ranges.destinations);
  const Flow flow(traffic, seed);
  Order order;
  for (std::uint64_t i = 0; i < ranges.frames() && i * stride < ranges.combinations(); ++i) {
    const auto values = flow.at<Shape{.enumerated = true}>(i * stride);
    order.add(values.source_port - kLowest, values.destination_port - kLowest);
  }
  return order;
}

Order shuffled(const Ranges& ranges, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::uint64_t> any(0, ranges.combinations() - 1);
  std::unordered_set<std::uint64_t> taken;
  Order order;
  while (taken.size() < ranges.frames()) {
    const auto rank = any(random);
    if (taken.insert(rank).second) order.add(rank % ranges.sources, rank / ranges.sources);
  }
  return order;
}

// For a true shuffle, each of the following statistics is approximately normally distributed with
// mean 0 and standard deviation 1.

class Centred {
 public:
  explicit Centred(std::vector<double> values) : values_(std::move(values)) {
    double mean = 0;
    for (const auto value : values_) mean += value / n();
    for (auto& value : values_) {
      value -= mean;
      squares_ += value * value;
    }
  }
  [[nodiscard]] bool constant() const { return squares_ == 0; }
  [[nodiscard]] double n() const { return static_cast<double>(values_.size()); }
  [[nodiscard]] double with_ordinal() const {
    double sum = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      sum += values_[i] * (static_cast<double>(i) - (n() - 1) / 2);
    }
    return sum / std::sqrt(squares_ * n() * (n() * n() - 1) / 12) * std::sqrt(n() - 1);
  }
  [[nodiscard]] double with_lag(std::size_t lag) const {
    double sum = 0;
    for (std::size_t i = lag; i < values_.size(); ++i) sum += values_[i] * values_[i - lag];
    const auto pairs = n() - static_cast<double>(lag);
    return (sum / squares_ * n() + pairs / n()) / std::sqrt(pairs);
  }

 private:
  std::vector<double> values_;
  double squares_ = 0;
};

// Tests whether all steps from a value to the one `lag` frames later are equally frequent:
// chi-squared over 64 bins, with Wilson and Hilferty's approximation.
double steps(const std::vector<double>& values, double range, std::size_t lag) {
  constexpr std::size_t kBins = 64;
  std::array<double, kBins> bins{};
  for (std::size_t i = lag; i < values.size(); ++i) {
    const auto step = values[i] - values[i - lag];
    ++bins[static_cast<std::size_t>((step < 0 ? step + range : step) * kBins / range)];
  }
  double chi_squared = 0;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    const auto width = std::ceil((static_cast<double>(bin) + 1) * range / kBins) -
                       std::ceil(static_cast<double>(bin) * range / kBins);
    const auto expected = static_cast<double>(values.size() - lag) * width / range;
    chi_squared += (bins[bin] - expected) * (bins[bin] - expected) / expected;
  }
  constexpr double kVariance = 2.0 / 9 / (kBins - 1);
  return (std::cbrt(chi_squared / (kBins - 1)) - (1 - kVariance)) / std::sqrt(kVariance);
}

// Counts the pairs of frames at most 64 apart whose later value is at most 64 higher.
double neighbours(const std::vector<double>& values, const Ranges& ranges) {
  constexpr std::size_t kApart = 64;
  double found = 0;
  double pairs = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    for (std::size_t j = i - std::min(i, kApart); j < i; ++j, ++pairs) {
      const auto step = values[i] - values[j];
      found += step > 0 && step <= kApart ? 1 : 0;
    }
  }
  double higher = 0;
  for (std::size_t step = 1; step <= kApart; ++step) higher += ranges.sources - double(step);
  const auto combinations = static_cast<double>(ranges.combinations());
  const auto share =
      higher * ranges.destinations * ranges.destinations / combinations / (combinations - 1);
  return (found - pairs * share) / std::sqrt(pairs * share);
}

using Scores = std::map<std::string, double>;

Scores scores(const Order& order, const Ranges& ranges, std::size_t width) {
  Scores found{{"neighbouring sources", neighbours(order.source, ranges)}};
  for (const auto& [half, values] :
       {std::pair{"source", order.source}, {"destination", order.destination}}) {
    const Centred centred(values);
    if (centred.constant()) continue;
    found[std::string(half) + " and ordinal"] = centred.with_ordinal();
    for (const std::size_t lag : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{10},
                                  std::size_t{64}, std::size_t{100}, width}) {
      if (lag > values.size() / 4) continue;
      const auto behind = std::string(half) + ", " + std::to_string(lag) + " behind";
      found[behind] = centred.with_lag(lag);
      const auto range = *half == 's' ? ranges.sources : ranges.destinations;
      if (range >= 1000) found["step of " + behind] = steps(values, range, lag);
    }
  }
  return found;
}

struct Tally {
  unsigned outside = 0;
  double sum = 0;
};

// For each statistic: how many seeds are outside the band, and the sum over all seeds.
template <class MakeOrder>
std::map<std::string, Tally> tallied(const Ranges& ranges, std::size_t width,
                                     const MakeOrder& make) {
  std::map<std::string, Tally> tallies;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    for (const auto& [name, score] : scores(make(seed), ranges, width)) {
      tallies[name].outside += std::abs(score) > kBand ? 1 : 0;
      tallies[name].sum += score;
    }
  }
  return tallies;
}

void expect_shuffled(const std::map<std::string, Tally>& tallies, const std::string& whose) {
  EXPECT_GE(tallies.size(), 5U);
  for (const auto& [name, tally] : tallies) {
    EXPECT_LE(tally.outside, kMostOutside) << whose << ": " << name;
    EXPECT_LT(std::abs(tally.sum) / std::sqrt(double{kSeeds}), kMostBias) << whose << ": " << name;
  }
}

class Enumeration : public testing::TestWithParam<Ranges> {
 protected:
  // The width of the permuted rectangle: frames this far apart differ in one of its halves only.
  [[nodiscard]] static std::uint64_t width() {
    std::uint64_t width = 2;
    while (width * width < GetParam().combinations()) width *= 2;
    return width;
  }
};

TEST_P(Enumeration, TheBandIsATrueShuffles) {
  expect_shuffled(
      tallied(GetParam(), width(), [](std::uint64_t seed) { return shuffled(GetParam(), seed); }),
      "a shuffle");
}

TEST_P(Enumeration, IsWithinATrueShufflesBand) {
  for (const auto stride : {std::uint64_t{1}, width()}) {
    if (GetParam().combinations() / stride < kFrames / 4) continue;
    expect_shuffled(
        tallied(GetParam(), width(),
                [&](std::uint64_t seed) { return enumerated(GetParam(), seed, stride); }),
        "each " + std::to_string(stride) + ". frame");
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Enumeration,
                         testing::Values(Ranges{40'000, 1}, Ranges{40'000, 2}, Ranges{40'000, 3},
                                         Ranges{40'000, 10}, Ranges{40'000, 100},
                                         Ranges{40'000, 1000}, Ranges{4000, 1}, Ranges{4000, 4000}),
                         [](const auto& shape) {
                           return std::to_string(shape.param.sources) + "x" +
                                  std::to_string(shape.param.destinations);
                         });

}  // namespace
}  // namespace natxy::flow
