#include "requests.hpp"

#include <exception>
#include <utility>
#include <variant>

namespace natxy {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kReportEvery{250};

}  // namespace

void TrialRequests::serve() {
  loop_.run([this](const std::string& line) { take(line); }, engine_.idle);
}

void TrialRequests::take(const std::string& line) {
  try {
    const auto request = spec::parse_request(line);
    if (const auto* trial = std::get_if<spec::TrialRequest>(&request)) run_trial(*trial);
    if (std::holds_alternative<spec::QuitRequest>(request)) loop_.end();
    // A cancel request without a running trial came just after the trial's end and is ignored.
  } catch (const spec::RequestError& error) {
    loop_.events().write(spec::error_event(error.event()));
  }
}

void TrialRequests::run_trial(const spec::TrialRequest& trial) {
  trial_id_ = trial.id;
  cancelled_ = false;
  reported_stage_.reset();
  const auto fail = [&](spec::ErrorKind kind, const std::string& message,
                        const spec::IcmpBySide& icmp = {}) {
    engine_.failed();
    loop_.events().write(
        spec::error_event({.id = trial.id, .kind = kind, .message = message, .icmp = icmp}));
  };
  try {
    const auto result = engine_.run(
        trial.spec, [this](const spec::Progress& progress) { poll(progress); }, cancelled_);
    loop_.events().write(spec::result_event(trial.id, result));
  } catch (const spec::TrialError& error) {
    fail(error.kind(), error.what(), error.icmp());
  } catch (const std::exception& error) {
    fail(spec::ErrorKind::kInternal, error.what());
  }
}

void TrialRequests::poll(const spec::Progress& progress) {
  listen();
  const auto now = steady_clock::now();
  if (reported_stage_ == progress.stage && now - reported_at_ < kReportEvery) return;
  reported_stage_ = progress.stage;
  reported_at_ = now;
  loop_.events().write(spec::progress_event(trial_id_, progress));
}

void TrialRequests::listen() {
  loop_.listen([this](const std::string& line) { take_during_trial(line); });
  if (loop_.over()) cancelled_ = true;
}

void TrialRequests::take_during_trial(const std::string& line) {
  try {
    const auto request = spec::parse_request(line);
    if (const auto* trial = std::get_if<spec::TrialRequest>(&request)) {
      throw spec::RequestError(trial->id, spec::ErrorKind::kRequest,
                               "request: trial " + std::to_string(trial_id_) +
                                   " is running (expected a new trial after its end)");
    }
    if (std::holds_alternative<spec::QuitRequest>(request)) loop_.end();
    cancelled_ = true;
  } catch (const spec::RequestError& error) {
    loop_.events().write(spec::error_event(error.event()));
  }
}

}  // namespace natxy
