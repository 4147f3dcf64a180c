// The rules that concern several members of a trial spec.
#pragma once

#include <cstdint>
#include <optional>

#include "spec/trial_spec.hpp"

namespace natxy::spec {

// Checks the rules that concern several members. Throws SpecError.
void validate(const TrialSpec& spec);

// Returns the time from the first due time to the end of the last drain and gap, rounded up;
// saturates above kMaxTrialNs.
[[nodiscard]] std::uint64_t duration_ns(const TrialSpec& spec);

[[nodiscard]] std::uint64_t total_frames(const Stream& stream);

// Returns the stream's traffic of this kind; absent if the mix has none.
[[nodiscard]] inline const std::optional<Traffic>& traffic_of(const Stream& stream, Kind kind) {
  return kind == Kind::kForeground ? stream.foreground : stream.background;
}

// Returns how many frames of the stream are of this kind.
[[nodiscard]] std::uint64_t frames_of(const Stream& stream, Kind kind);

// Returns the stream that establishes the trial's connections; null in a stateless trial.
[[nodiscard]] const Stream* establishing_stream(const TrialSpec& spec);

// Returns the most connections that the establishing stream can create.
[[nodiscard]] std::uint64_t connections_of(const Stream& establishing);

// Returns the number of entries of the state table: the most connections that all phases together
// can create; 0 in a stateless trial.
[[nodiscard]] std::uint64_t entries_of(const TrialSpec& spec);

}  // namespace natxy::spec
