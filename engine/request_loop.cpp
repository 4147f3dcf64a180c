#include "request_loop.hpp"

#include <exception>
#include <utility>
#include <variant>

namespace natxy {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kIdle{20};
constexpr milliseconds kTellEvery{250};

}  // namespace

void RequestLoop::run() {
  while (!over()) {
    if (const auto line = reader_.next()) {
      take(*line);
    } else if (reader_.ended()) {
      return;
    } else {
      reader_.wait(kIdle);
      engine_.idle();
    }
  }
}

bool RequestLoop::over() const {
  return quitting_ || stopped_.load() || writer_.broken();
}

void RequestLoop::take(const std::string& line) {
  try {
    const auto request = spec::parse_request(line);
    if (const auto* trial = std::get_if<spec::TrialRequest>(&request)) run_trial(*trial);
    quitting_ = quitting_ || std::holds_alternative<spec::QuitRequest>(request);
    // A cancel request without a running trial came just after the trial's end and is ignored.
  } catch (const spec::RequestError& error) {
    writer_.write(spec::error_event(error.event()));
  }
}

void RequestLoop::run_trial(const spec::TrialRequest& trial) {
  trial_id_ = trial.id;
  cancelled_ = false;
  told_stage_.reset();
  const auto fail = [&](spec::ErrorKind kind, const std::string& message,
                        const spec::IcmpBySide& icmp = {}) {
    engine_.failed();
    writer_.write(
        spec::error_event({.id = trial.id, .kind = kind, .message = message, .icmp = icmp}));
  };
  try {
    const auto result = engine_.run(
        trial.spec, [this](const spec::Progress& progress) { poll(progress); }, cancelled_);
    writer_.write(spec::result_event(trial.id, result));
  } catch (const spec::TrialError& error) {
    fail(error.kind(), error.what(), error.icmp());
  } catch (const std::exception& error) {
    fail(spec::ErrorKind::kInternal, error.what());
  }
}

void RequestLoop::poll(const spec::Progress& progress) {
  listen();
  const auto now = steady_clock::now();
  if (told_stage_ == progress.stage && now - told_at_ < kTellEvery) return;
  told_stage_ = progress.stage;
  told_at_ = now;
  writer_.write(spec::progress_event(trial_id_, progress));
}

void RequestLoop::listen() {
  reader_.wait(milliseconds(0));
  while (const auto line = reader_.next()) take_during_trial(*line);
  if (reader_.ended() || over()) cancelled_ = true;
}

void RequestLoop::take_during_trial(const std::string& line) {
  try {
    const auto request = spec::parse_request(line);
    if (const auto* trial = std::get_if<spec::TrialRequest>(&request)) {
      throw spec::RequestError(trial->id, spec::ErrorKind::kRequest,
                               "request: trial " + std::to_string(trial_id_) +
                                   " is running (expected a new trial after its end)");
    }
    quitting_ = quitting_ || std::holds_alternative<spec::QuitRequest>(request);
    cancelled_ = true;
  } catch (const spec::RequestError& error) {
    writer_.write(spec::error_event(error.event()));
  }
}

}  // namespace natxy
