// A token bucket that is exact for any rate: tokens are counted in billionths, so that each
// nanosecond adds rate_fps units.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gateway/octets.hpp"

namespace natxy::gateway {

class TokenBucket {
 public:
  TokenBucket(std::uint64_t rate_fps, std::uint64_t depth)
      : rate_fps_(rate_fps), full_(Uint128{depth} * kToken), level_(full_) {}

  // Takes this many tokens if they are there. Times must not go backwards.
  [[nodiscard]] bool take(Nanoseconds now_ns, std::uint64_t tokens = 1) {
    if (is_started_) level_ = std::min(full_, level_ + Uint128{now_ns - last_ns_} * rate_fps_);
    is_started_ = true;
    last_ns_ = now_ns;
    const auto taken = Uint128{tokens} * kToken;
    if (level_ < taken) return false;
    level_ -= taken;
    return true;
  }

 private:
  static constexpr std::uint64_t kToken = 1'000'000'000;

  std::uint64_t rate_fps_;
  Uint128 full_;
  Uint128 level_;
  Nanoseconds last_ns_ = 0;
  bool is_started_ = false;  // the bucket is full until the first frame
};

}  // namespace natxy::gateway
