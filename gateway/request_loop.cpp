#include "gateway/request_loop.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>

#include "plumbing/line_reader.hpp"

namespace natxy::gateway {
namespace {

// Answers all complete lines. Returns false after the last request, or if nobody reads the answers.
bool answer_lines(plumbing::LineReader& lines, plumbing::EventWriter& events,
                  const Answerer& answer) {
  while (const auto line = lines.next()) {
    const auto event = answer(*line);
    if (event.empty()) return false;
    events.write(event);
    if (events.broken()) return false;
  }
  return true;
}

}  // namespace

int open_signals() {
  signal(SIGPIPE, SIG_IGN);  // NOLINT(*-err33-c): it cannot fail with these arguments
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const int descriptor = signalfd(-1, &set, SFD_CLOEXEC);
  if (descriptor < 0) throw std::runtime_error("signals cannot be polled");
  return descriptor;
}

void run_requests(int signals, plumbing::EventWriter& events, const Answerer& answer) {
  plumbing::LineReader lines(STDIN_FILENO);
  std::array<pollfd, 2> watched{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{signals, POLLIN, 0}};
  while (true) {
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
    if (watched[1].revents != 0) return;
    if (watched[0].revents == 0) continue;
    lines.wait(std::chrono::milliseconds(0));
    if (!answer_lines(lines, events, answer) || lines.ended()) return;
  }
}

}  // namespace natxy::gateway
