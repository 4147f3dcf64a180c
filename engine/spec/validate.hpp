// What a spec's members must be together, beyond the range of each.
#pragma once

#include <cstdint>

#include "spec/trial_spec.hpp"

namespace natxy::spec {

// Throws SpecError.
void validate(const TrialSpec& spec);

// From the first due time to the end of the last drain and gap, rounded up; saturates beyond
// kMaxTrialNs.
[[nodiscard]] std::uint64_t duration_ns(const TrialSpec& spec);

[[nodiscard]] std::uint64_t total_frames(const Stream& stream);

// How many of a stream's frames are of a kind.
[[nodiscard]] std::uint64_t frames_of(const Stream& stream, Kind kind);

// The stream whose frames make the trial's connections; null: a stateless trial.
[[nodiscard]] const Stream* establishing_stream(const TrialSpec& spec);

// How many connections an establishing stream's trial may have: entries of the tester's table.
[[nodiscard]] std::uint64_t connections_of(const Stream& establishing);

// The side that a direction's frames leave from.
[[nodiscard]] constexpr Side departure_side(Direction direction) {
  return direction == Direction::kForward ? Side::kLeft : Side::kRight;
}

}  // namespace natxy::spec
