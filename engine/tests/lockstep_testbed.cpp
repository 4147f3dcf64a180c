#include "lockstep_testbed.hpp"

#include <atomic>

#include "run/trial.hpp"

namespace natxy::tests {

Observed LockstepTestbed::run_once(const spec::TrialSpec& spec) {
  const std::atomic<bool> go_on{false};
  const auto answer = [this](const spec::Progress& progress) {
    if (progress.stage == spec::Stage::kNeighbours && gateway_runs_) step_gateway();
  };
  auto result = run::TrialRunner<LockstepClock, LockstepDevice>(device_).run(
      with_next_hops(spec, gateway_), answer, go_on);
  return {.result = std::move(result), .record = gateway_.record()};
}

}  // namespace natxy::tests
