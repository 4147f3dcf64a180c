// Reads requests and writes events. Runs one trial at a time and reads `cancel` while it runs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "plumbing/event_writer.hpp"
#include "plumbing/line_reader.hpp"
#include "spec/json.hpp"

namespace natxy {

// The functions that the loop calls; in the program, they are a run::TrialRunner over a
// port::Device.
struct Engine {
  using Poll = std::function<void(const spec::Progress&)>;
  // Throws spec::TrialError.
  std::function<spec::TrialResult(const spec::TrialSpec&, const Poll&, const std::atomic<bool>&)>
      run;
  std::function<void()> idle;    // called between trials, about every 20 ms
  std::function<void()> failed;  // called after a trial that ended with an error
};

class RequestLoop {
 public:
  // stopped: set by a signal handler.
  RequestLoop(plumbing::LineReader& reader, plumbing::EventWriter& writer, Engine engine,
              const std::atomic<bool>& stopped)
      : reader_(reader), writer_(writer), engine_(std::move(engine)), stopped_(stopped) {}

  // Serves requests until `quit`, the end of input, a signal, or a failed write of an event.
  void run();

 private:
  void take(const std::string& line);
  void take_during_trial(const std::string& line);
  void run_trial(const spec::TrialRequest& trial);
  void poll(const spec::Progress& progress);
  void listen();
  [[nodiscard]] bool over() const;

  plumbing::LineReader& reader_;
  plumbing::EventWriter& writer_;
  Engine engine_;
  const std::atomic<bool>& stopped_;
  bool quitting_ = false;
  std::atomic<bool> cancelled_{false};
  std::uint64_t trial_id_ = 0;
  std::optional<spec::Stage> told_stage_;
  std::chrono::steady_clock::time_point told_at_;
};

}  // namespace natxy
