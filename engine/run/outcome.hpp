// Makes the result of a trial from what the threads recorded, and judges whether it is valid.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "run/phase.hpp"
#include "spec/port_result.hpp"
#include "spec/trial_result.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::run {

// What the threads and ports recorded in a trial.
struct PortMeasure {
  spec::PortCounters moved;
  spec::ArrivalClock clock;
  unsigned rx_ring_frames = 0;
  bool link_up = true;  // at the end of the trial
};

struct TrialMeasure {
  std::vector<PhaseReport> phases;
  std::array<PortMeasure, 2> ports;
  bool incomplete = false;
  std::string unwatched_reason;
  std::optional<spec::ConnectionTable> connections;
  Ticks requested = 0;  // when the engine began to handle the request
};

// Judges whether a trial is valid: whether the tester did what it was asked. Returns why it is not;
// empty if it is. result: its streams and ports are complete.
[[nodiscard]] std::vector<spec::Reason> invalid_reasons(const spec::TrialSpec& spec,
                                                        const TrialMeasure& measure,
                                                        const spec::TrialResult& result,
                                                        TickRate ticks);

// When the stream's phase and the trial started.
struct Starts {
  Ticks phase;
  Ticks trial;
};

// Makes the result of a stream from what its senders and its receiver recorded.
[[nodiscard]] spec::StreamResult stream_result(const StreamReport& report, const spec::Phase& phase,
                                               const Starts& starts, TickRate ticks);

[[nodiscard]] spec::TrialResult outcome(const spec::TrialSpec& spec, const TrialMeasure& measure,
                                        TickRate ticks);

}  // namespace natxy::run
