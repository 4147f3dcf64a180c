// The engine over DPDK ports (see requests.hpp). Its loops take a minute to compile, so they have a
// file of their own.
#include <memory>

#include "port/device.hpp"
#include "requests.hpp"
#include "run/frame_record.hpp"
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
