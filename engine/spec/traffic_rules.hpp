// The rules for one kind of traffic: formats, addresses, ports and enumerations.
#pragma once

#include <cstdint>
#include <string>

#include "spec/trial_spec.hpp"

namespace natxy::spec {

// Returns the number of values of a series.
[[nodiscard]] inline std::uint64_t values_of(const Series& series) {
  return series.mode == SeriesMode::kFixed ? 1 : series.max - series.min + 1ULL;
}

// Checks traffic that has this number of frames; `member` is its path. Throws SpecError.
void check_traffic(const Traffic& traffic, std::uint64_t frames, const std::string& member);

}  // namespace natxy::spec
