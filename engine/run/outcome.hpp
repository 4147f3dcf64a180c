// Makes the result of a trial from what the threads recorded, and judges whether it is valid.
#pragma once

#include "run/trial_measure.hpp"
#include "spec/trial_result.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::run {

[[nodiscard]] spec::TrialResult outcome(const spec::TrialSpec& spec, const TrialMeasure& measure,
                                        TickRate ticks);

}  // namespace natxy::run
