// Requests in, events out: one trial at a time, and an ear for `cancel` while it runs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "event_writer.hpp"
#include "line_reader.hpp"
#include "spec/json.hpp"

namespace natxy {

// What the loop drives; in the program a run::TrialRunner over a port::Device.
struct Engine {
  using Poll = std::function<void(const spec::Progress&)>;
  // Throws spec::TrialError.
  std::function<spec::TrialResult(const spec::TrialSpec&, const Poll&, const std::atomic<bool>&)>
      run;
  std::function<void()> idle;    // between trials, about every 20 ms
  std::function<void()> failed;  // after a trial that ended with an error
};

class RequestLoop {
 public:
  // stopped: set by a signal.
  RequestLoop(LineReader& reader, EventWriter& writer, Engine engine,
              const std::atomic<bool>& stopped)
      : reader_(reader), writer_(writer), engine_(std::move(engine)), stopped_(stopped) {}

  // Until `quit`, end of input, a signal, or nobody who reads the events.
  void run();

 private:
  void take(const std::string& line);
  void take_during_trial(const std::string& line);
  void run_trial(const spec::TrialRequest& trial);
  void poll(const spec::Progress& progress);
  void listen();
  [[nodiscard]] bool over() const;

  LineReader& reader_;
  EventWriter& writer_;
  Engine engine_;
  const std::atomic<bool>& stopped_;
  bool quitting_ = false;
  std::atomic<bool> cancelled_{false};
  std::uint64_t trial_id_ = 0;
  std::optional<spec::Stage> told_stage_;
  std::chrono::steady_clock::time_point told_at_;
};

}  // namespace natxy
