// Determines the kind of a frame and its ordinal within the kind: frame i is foreground iff
// i mod n < m (the mixes of RFC 8219 5.3 as n and m).
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
  explicit Mix(spec::Mix mix) : by_n_(mix.n), m_(mix.m) {}

  [[nodiscard]] Place at(std::uint64_t number) const {
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
    const auto foreground = quotient * m_ + (remainder < m_ ? remainder : m_);
    return kind == spec::Kind::kForeground ? foreground : frames - foreground;
  }

 private:
  flow::Divider by_n_;
  std::uint64_t m_;
};

}  // namespace natxy::run
