// The rules that concern several members of a trial spec.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plumbing/json_error.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::spec {

// The error of a trial spec that is not valid; the message starts with the member's path.
using SpecError = plumbing::JsonError;

// Numbers and the paths of list items, as errors name them.
[[nodiscard]] inline std::string text(std::uint64_t value) {
  return std::to_string(value);
}

[[nodiscard]] inline std::string at(const std::string& list, std::size_t index) {
  return list + "[" + text(index) + "]";
}

// Returns the number of values of a series.
[[nodiscard]] inline std::uint64_t values_of(const Series& series) {
  return series.mode == SeriesMode::kFixed ? 1 : series.max - series.min + 1ULL;
}

// Checks one kind of traffic, which has this number of frames: formats, addresses, ports and
// enumerations. `member` is its path. Throws SpecError.
void check_traffic(const Traffic& traffic, std::uint64_t frames, const std::string& member);

// Checks the streams of a stateful trial (RFC 9693): one stream of the first phase establishes
// connections, and streams of later phases use the same connections. Throws SpecError.
void check_connections(const TrialSpec& spec);

// Checks all rules that concern several members. Throws SpecError.
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
