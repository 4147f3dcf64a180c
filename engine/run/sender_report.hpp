// What a sender counted and measured in one phase.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "run/clock.hpp"
#include "run/histogram.hpp"
#include "run/tag_plan.hpp"
#include "spec/runs.hpp"

namespace natxy::run {

// Why a sender stopped before its last frame.
enum class GaveUp : std::uint8_t {
  kNo,
  kBehind,   // the sender was kept from its core, or is too slow
  kRefused,  // the port did not accept frames
};

struct SenderReport {
  std::array<std::uint64_t, 2> sent{};  // by kind
  std::uint64_t refused_by_gateway = 0;
  std::uint64_t refused_by_port = 0;
  std::uint64_t largest_burst = 0;  // most frames that left without a wait for a due time
  std::uint64_t pauses = 0;
  Ticks paused = 0;  // total of all pauses
  Ticks longest_pause = 0;
  // By why the sender was behind: it was kept from its core, or the port had refused a frame. A run
  // is a pause before its first number; its count is the pause in ticks.
  std::array<spec::Runs, 2> pauses_at;
  spec::Runs late_runs;  // numbers that left late by the current schedule, with the sender's stride
  Ticks first_departure = kNever;
  Ticks last_departure = 0;
  GaveUp gave_up = GaveUp::kNo;
  Ticks behind = 0;  // how late the next frame was when the sender gave up
  Histogram<5> lateness;
  Histogram<5> send_call;
  Histogram<1> step_gap;  // per frame: time until the sender's next step, by when it has left
  std::vector<TagDeparture> tags;
};

// Adds the report of another sender of the same stream.
inline void merge(SenderReport& into, const SenderReport& from) {
  for (std::size_t kind = 0; kind < 2; ++kind) into.sent[kind] += from.sent[kind];
  into.refused_by_gateway += from.refused_by_gateway;
  into.refused_by_port += from.refused_by_port;
  into.largest_burst = std::max(into.largest_burst, from.largest_burst);
  into.pauses += from.pauses;
  into.paused = std::max(into.paused, from.paused);
  into.longest_pause = std::max(into.longest_pause, from.longest_pause);
  for (std::size_t why = 0; why < 2; ++why) into.pauses_at[why].merge(from.pauses_at[why]);
  into.late_runs.merge(from.late_runs);
  into.first_departure = std::min(into.first_departure, from.first_departure);
  into.last_departure = std::max(into.last_departure, from.last_departure);
  into.gave_up = std::max(into.gave_up, from.gave_up);
  into.behind = std::max(into.behind, from.behind);
  into.lateness.merge(from.lateness);
  into.send_call.merge(from.send_call);
  into.step_gap.merge(from.step_gap);
  into.tags.insert(into.tags.end(), from.tags.begin(), from.tags.end());
}

}  // namespace natxy::run
