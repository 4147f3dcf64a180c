// A histogram with exact count, minimum and maximum, and percentiles to within 0.1 %.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace natxy::gateway {

// Each value below 2048 has its own bucket; above, each power of two has 1024 buckets.
class Histogram {
 public:
  Histogram() : counts_(kBuckets) {}

  void add(std::uint64_t value) {
    ++counts_[bucket_of(std::min(value, kLargest))];
    ++count_;
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }

  void clear() {
    std::ranges::fill(counts_, 0);
    count_ = 0;
    min_ = UINT64_MAX;
    max_ = 0;
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t min() const { return count_ == 0 ? 0 : min_; }
  [[nodiscard]] std::uint64_t max() const { return max_; }

  // Returns the smallest value v so that at least permille / 1000 of all values are at most v (RFC
  // 2330, 11.3), as the middle of its bucket; 0 if there are no values.
  [[nodiscard]] std::uint64_t percentile(std::uint64_t permille) const {
    if (count_ == 0) return 0;
    const auto rank = std::max<std::uint64_t>(1, (count_ * permille + 999) / 1000);
    std::uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
      seen += counts_[bucket];
      if (seen >= rank) return std::clamp(middle_of(bucket), min_, max_);
    }
    return max_;
  }

 private:
  static constexpr unsigned kFineBits = 10;
  static constexpr std::uint64_t kFine = 1U << kFineBits;
  static constexpr unsigned kLargestBits = 42;  // 73 minutes of nanoseconds
  static constexpr std::uint64_t kLargest = (std::uint64_t{1} << kLargestBits) - 1;
  static constexpr std::size_t kBuckets = (kLargestBits - kFineBits + 1) * kFine;

  [[nodiscard]] static std::size_t bucket_of(std::uint64_t value) {
    if (value < 2 * kFine) return value;
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - kFineBits - 1;
    return shift * kFine + (value >> shift);
  }
  [[nodiscard]] static std::uint64_t middle_of(std::size_t bucket) {
    if (bucket < 2 * kFine) return bucket;
    const auto shift = bucket / kFine - 1;
    const auto lowest = (bucket - shift * kFine) << shift;
    return lowest + ((std::uint64_t{1} << shift) - 1) / 2;
  }

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
};

}  // namespace natxy::gateway
