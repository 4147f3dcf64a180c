// From what the threads recorded to the result that is told, and whether the trial was valid.
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
  bool link_up = true;  // when the trial had ended
};

struct TrialMeasure {
  std::vector<PhaseReport> phases;
  std::array<PortMeasure, 2> ports;
  bool incomplete = false;
  std::string unwatched_reason;
  std::optional<spec::ConnectionTable> connections;
  Ticks requested = 0;  // when the request was taken up
};

[[nodiscard]] spec::TrialResult outcome(const spec::TrialSpec& spec, const TrialMeasure& measure,
                                        TickRate ticks);

}  // namespace natxy::run
