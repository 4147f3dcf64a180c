// The contents of a recorder of durations as a list of buckets.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "run/clock.hpp"

namespace natxy::run {

struct Bucket {
  double lower = 0;  // ticks, signed; both ends included
  double upper = 0;
  std::uint64_t count = 0;
  [[nodiscard]] double middle() const { return (lower + upper) / 2; }
};

struct Buckets {
  std::vector<Bucket> list;  // ascending
  double min = 0;            // exact
  double max = 0;
  double mean = 0;

  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t total = 0;
    for (const auto& bucket : list) total += bucket.count;
    return total;
  }
  // Returns the smallest recorded value v with F(v) >= p (RFC 2330 11.3), to the resolution of the
  // buckets. The extremes are exact.
  [[nodiscard]] double percentile(double p) const {
    const auto total = count();
    if (total == 0) return 0;
    const auto wanted = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::ceil(p * (1 - 1e-12) * static_cast<double>(total))));
    if (wanted == 1) return min;
    if (wanted >= total) return max;
    std::uint64_t seen = 0;
    for (const auto& bucket : list) {
      seen += bucket.count;
      if (seen >= wanted) return std::clamp(bucket.middle(), min, max);
    }
    return max;
  }
};

}  // namespace natxy::run
