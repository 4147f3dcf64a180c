// Carries out the requests to the engine. Runs one trial at a time and reads `cancel` while it
// runs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "plumbing/requests.hpp"
#include "spec/json.hpp"

namespace natxy {

namespace port {
class Device;
}
namespace run {
struct RecordRings;
}

// The functions that the requests call; in the program, they are a run::TrialRunner over a
// port::Device.
struct Engine {
  using Poll = std::function<void(const spec::Progress&)>;
  // Throws spec::TrialError.
  std::function<spec::TrialResult(const spec::TrialSpec&, const Poll&, const std::atomic<bool>&)>
      run;
  std::function<void()> idle;    // called between trials, about every 20 ms
  std::function<void()> failed;  // called after a trial that ended with an error
};

// Makes the engine over DPDK ports, on the time stamp counter: what the program runs, and what the
// tests of time run (device_engine.cpp). records: null if nobody reads records. One runner serves
// all trials, so that the memory of its state table is reused.
[[nodiscard]] Engine engine_over(port::Device& device, run::RecordRings* records);

class TrialRequests {
 public:
  TrialRequests(plumbing::RequestLoop& loop, Engine engine)
      : loop_(loop), engine_(std::move(engine)) {}

  // Serves requests to the end of the loop.
  void serve();

 private:
  void take(const std::string& line);
  void take_during_trial(const std::string& line);
  void run_trial(const spec::TrialRequest& trial);
  void poll(const spec::Progress& progress);
  void listen();

  plumbing::RequestLoop& loop_;
  Engine engine_;
  std::atomic<bool> cancelled_{false};
  std::uint64_t trial_id_ = 0;
  std::optional<spec::Stage> reported_stage_;
  std::chrono::steady_clock::time_point reported_at_;
};

}  // namespace natxy
