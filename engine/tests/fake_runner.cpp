#include "fake_runner.hpp"

namespace natxy::tests {

FakeRunner::FakeRunner(FakeDevice& device) : runner_(std::make_unique<Runner>(device)) {}

FakeRunner::~FakeRunner() = default;

spec::TrialResult FakeRunner::run(const spec::TrialSpec& spec, const run::Poll& poll,
                                  const std::atomic<bool>& cancelled) {
  return runner_->run(spec, poll, cancelled);
}

}  // namespace natxy::tests
