#include "device_engine.hpp"

#include <memory>

#include "run/trial.hpp"

namespace natxy {

Engine engine_over(port::Device& device, run::RecordRings* records) {
  using Runner = run::TrialRunner<run::TscClock, port::Device>;
  const auto runner = std::make_shared<Runner>(device, records);
  return {
      .run = [runner](
                 const spec::TrialSpec& spec, const Engine::Poll& poll,
                 const std::atomic<bool>& cancelled) { return runner->run(spec, poll, cancelled); },
      .idle = [&device] { device.idle(); },
      .failed = [&device] { device.forget(); }};
}

}  // namespace natxy
