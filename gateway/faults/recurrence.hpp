// Times that recur: periodic, or with exponentially distributed distances (a Poisson process).
#pragma once

#include <cstdint>
#include <optional>

#include "gateway/config.hpp"
#include "gateway/faults/pseudorandom.hpp"

namespace natxy::gateway {

class Recurrence {
 public:
  explicit Recurrence(const Recurring& config)
      : config_(config), random_(config.seed), next_ns_(distance_ns()) {}

  // Returns the newest of the times up to now; absent before the first one.
  [[nodiscard]] std::optional<Nanoseconds> newest_ns(Nanoseconds now_ns) {
    for (; next_ns_ <= now_ns; next_ns_ += distance_ns()) newest_ns_ = next_ns_;
    return newest_ns_;
  }

 private:
  [[nodiscard]] Nanoseconds distance_ns() {
    return config_.is_exponential ? random_.exponential(config_.every_ns) : config_.every_ns;
  }

  Recurring config_;
  Pseudorandom random_;
  Nanoseconds next_ns_;
  std::optional<Nanoseconds> newest_ns_;
};

}  // namespace natxy::gateway
