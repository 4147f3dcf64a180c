// The rules that concern several members of a trial spec.
#pragma once

#include <cstdint>

#include "spec/trial_spec.hpp"

namespace natxy::spec {

// Checks the rules that concern several members. Throws SpecError.
void validate(const TrialSpec& spec);

// Returns the time from the first due time to the end of the last drain and gap, rounded up;
// saturates above kMaxTrialNs.
[[nodiscard]] std::uint64_t duration_ns(const TrialSpec& spec);

[[nodiscard]] std::uint64_t total_frames(const Stream& stream);

// Returns how many frames of the stream are of this kind.
[[nodiscard]] std::uint64_t frames_of(const Stream& stream, Kind kind);

// Returns the stream that establishes the trial's connections; null in a stateless trial.
[[nodiscard]] const Stream* establishing_stream(const TrialSpec& spec);

// Returns the number of entries of the state table: the most connections that the stream can
// establish.
[[nodiscard]] std::uint64_t connections_of(const Stream& establishing);

}  // namespace natxy::spec
