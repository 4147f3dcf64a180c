// What the threads and ports recorded in a trial.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "run/phase.hpp"
#include "spec/port_result.hpp"
#include "spec/trial_result.hpp"

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

}  // namespace natxy::run
