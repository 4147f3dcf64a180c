// The delays of successive frames, as the configuration gives them.
#pragma once

#include <cstddef>
#include <utility>

#include "gateway/config.hpp"

namespace natxy::gateway {

class DelaySeries {
 public:
  explicit DelaySeries(Delay delay) : delay_(std::move(delay)), state_(delay_.seed) {}

  [[nodiscard]] Nanoseconds next_ns() {
    if (delay_.uniform_ns) return uniform((*delay_.uniform_ns)[0], (*delay_.uniform_ns)[1]);
    const auto delay_ns = delay_.pattern_ns[next_];
    if (++next_ == delay_.pattern_ns.size()) next_ = 0;
    return delay_ns;
  }

 private:
  // Returns a value of SplitMix64, scaled to the range by a product's high half; uniform to within
  // 2^-64 of the range.
  [[nodiscard]] Nanoseconds uniform(Nanoseconds lowest, Nanoseconds highest) {
    state_ += 0x9e3779b97f4a7c15U;
    auto mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
    mixed ^= mixed >> 31U;
    const auto span = Uint128{highest - lowest} + 1;
    return lowest + static_cast<Nanoseconds>(mixed * span >> 64U);
  }

  Delay delay_;
  std::uint64_t state_;
  std::size_t next_ = 0;
};

}  // namespace natxy::gateway
