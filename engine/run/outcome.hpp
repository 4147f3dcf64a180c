// Makes the result of a trial from what the threads recorded, and judges whether it is valid.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "run/phase.hpp"
#include "spec/port_counters.hpp"
#include "spec/trial_result.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::run {

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

[[nodiscard]] spec::TrialResult outcome(const spec::TrialSpec& spec, const TrialMeasure& measure,
                                        TickRate ticks);

}  // namespace natxy::run
