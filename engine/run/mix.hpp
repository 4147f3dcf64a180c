// Determines the kind of a frame and its ordinal within the kind: frame i is foreground iff
// i mod n < m (the mixes of RFC 8219 5.3 as n and m), or as spec::Mix says for an even mix.
#pragma once

#include <cstdint>

#include "flow/divider.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::run {

struct Place {
  spec::Kind kind;
  std::uint64_t ordinal;
};

class Mix {
 public:
  explicit Mix(spec::Mix mix) : by_n_(mix.n), m_(mix.m), even_(mix.even && mix.m > 0) {}

  [[nodiscard]] Place at(std::uint64_t number) const {
    if (even_) [[unlikely]]
      return evenly(number);
    const auto [quotient, remainder] = by_n_.divide(number);
    if (remainder < m_) return {spec::Kind::kForeground, quotient * m_ + remainder};
    return {spec::Kind::kBackground, quotient * (by_n_.divisor() - m_) + remainder - m_};
  }
  // Returns whether both kinds occur.
  [[nodiscard]] bool mixed() const { return m_ > 0 && m_ < by_n_.divisor(); }
  [[nodiscard]] spec::Kind only() const {
    return m_ > 0 ? spec::Kind::kForeground : spec::Kind::kBackground;
  }
  // Returns how many of the first `frames` frames are of this kind.
  [[nodiscard]] std::uint64_t count(spec::Kind kind, std::uint64_t frames) const {
    const auto [quotient, remainder] = by_n_.divide(frames);
    const auto foreground =
        even_ ? evenly_before(frames).ordinal : quotient * m_ + (remainder < m_ ? remainder : m_);
    return kind == spec::Kind::kForeground ? foreground : frames - foreground;
  }

 private:
  // A frame of an even mix: its foreground ordinal, if it is foreground.
  struct Even {
    std::uint64_t ordinal;  // ceil(number m / n): how many foreground frames there are before it
    bool foreground;
  };

  // The product is below 2^56: a stream has fewer than 2^40 frames.
  [[nodiscard]] Even evenly_before(std::uint64_t number) const {
    const auto [quotient, remainder] = by_n_.divide(number * m_);
    return {.ordinal = quotient + (remainder > 0 ? 1 : 0),
            .foreground = remainder == 0 || remainder + m_ > by_n_.divisor()};
  }
  [[nodiscard]] Place evenly(std::uint64_t number) const {
    const auto [ordinal, foreground] = evenly_before(number);
    if (foreground) return {spec::Kind::kForeground, ordinal};
    return {spec::Kind::kBackground, number - ordinal};
  }

  flow::Divider by_n_;
  std::uint64_t m_;
  bool even_;
};

}  // namespace natxy::run
