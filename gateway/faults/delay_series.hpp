// The delays of successive frames, as the configuration gives them.
#pragma once

#include <cstddef>
#include <utility>

#include "gateway/config.hpp"
#include "gateway/faults/pseudorandom.hpp"

namespace natxy::gateway {

class DelaySeries {
 public:
  explicit DelaySeries(Delay delay) : delay_(std::move(delay)), random_(delay_.seed) {}

  [[nodiscard]] Nanoseconds next_ns() {
    if (delay_.uniform_ns) {
      return random_.uniform((*delay_.uniform_ns)[0], (*delay_.uniform_ns)[1]);
    }
    const auto delay_ns = delay_.pattern_ns[next_];
    if (++next_ == delay_.pattern_ns.size()) next_ = 0;
    return delay_ns;
  }

 private:
  Delay delay_;
  Pseudorandom random_;
  std::size_t next_ = 0;
};

}  // namespace natxy::gateway
