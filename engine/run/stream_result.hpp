// Makes the result of a stream from what its senders and its receiver recorded.
#pragma once

#include "run/phase.hpp"
#include "spec/trial_result.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::run {

// When the stream's phase and the trial started.
struct Starts {
  Ticks phase;
  Ticks trial;
};

[[nodiscard]] spec::StreamResult stream_result(const StreamReport& report, const spec::Phase& phase,
                                               const Starts& starts, TickRate ticks);

}  // namespace natxy::run
