// Runs whole trials over a fake device. Their loops take half a minute to compile, so one file
// compiles them for all tests.
#pragma once

#include <atomic>
#include <memory>

#include "fake_device.hpp"
#include "run/trial.hpp"

namespace natxy::tests {

class FakeRunner {
 public:
  explicit FakeRunner(FakeDevice& device);
  ~FakeRunner();
  FakeRunner(const FakeRunner&) = delete;
  FakeRunner& operator=(const FakeRunner&) = delete;

  spec::TrialResult run(const spec::TrialSpec& spec, const run::Poll& poll,
                        const std::atomic<bool>& cancelled);

 private:
  using Runner = run::TrialRunner<SteadyClock, FakeDevice>;
  std::unique_ptr<Runner> runner_;
};

}  // namespace natxy::tests
