// Judges whether a trial is valid: whether the tester did what it was asked.
#pragma once

#include <vector>

#include "run/trial_measure.hpp"
#include "spec/trial_result.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::run {

// Returns why the trial is invalid; empty if it is valid. result: its streams and ports are
// complete.
[[nodiscard]] std::vector<spec::Reason> invalid_reasons(const spec::TrialSpec& spec,
                                                        const TrialMeasure& measure,
                                                        const spec::TrialResult& result,
                                                        TickRate ticks);

}  // namespace natxy::run
