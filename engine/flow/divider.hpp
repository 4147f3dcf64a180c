// Divides by a number that is known before the trial, without a division instruction.
#pragma once

#include <cassert>
#include <cstdint>

namespace natxy::flow {

__extension__ using Uint128 = unsigned __int128;

struct QuotientRemainder {
  std::uint64_t quotient;
  std::uint64_t remainder;
};

// Exact for all dividends and for divisors up to 2^32: the estimate by the reciprocal, which is
// rounded up, is at most one too large, and the sign of the remainder shows this.
class Divider {
 public:
  constexpr explicit Divider(std::uint64_t divisor = 1)
      : divisor_(divisor), reciprocal_(divisor == 1 ? 0 : ~std::uint64_t{0} / divisor + 1) {
    assert(divisor >= 1 && divisor <= (1ULL << 32U));
  }

  [[nodiscard]] constexpr QuotientRemainder divide(std::uint64_t dividend) const {
    if (reciprocal_ == 0) return {dividend, 0};
    auto quotient = static_cast<std::uint64_t>((Uint128{dividend} * reciprocal_) >> 64U);
    auto remainder = dividend - quotient * divisor_;
    const auto over = static_cast<std::uint64_t>(static_cast<std::int64_t>(remainder) >> 63U);
    return {quotient + over, remainder + (over & divisor_)};
  }

  [[nodiscard]] constexpr std::uint64_t divisor() const { return divisor_; }

 private:
  std::uint64_t divisor_;
  std::uint64_t reciprocal_;
};

// The same for divisors and quotients up to 2^16, and so for dividends below 2^32. It needs one
// 64-bit product and no correction, so that a loop over it is vectorised.
class NarrowDivider {
 public:
  constexpr explicit NarrowDivider(std::uint32_t divisor = 1)
      : divisor_(divisor), reciprocal_(((1ULL << 48U) + divisor - 1) / divisor) {
    assert(divisor >= 1 && divisor <= (1U << 16U));
  }

  struct Parts {
    std::uint32_t quotient;
    std::uint32_t remainder;
  };
  [[nodiscard]] constexpr Parts divide(std::uint32_t dividend) const {
    const auto quotient = static_cast<std::uint32_t>((dividend * reciprocal_) >> 48U);
    return {quotient, dividend - quotient * divisor_};
  }

 private:
  std::uint32_t divisor_;
  std::uint64_t reciprocal_;
};

}  // namespace natxy::flow
