#include "gateway/request_loop.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>

namespace natxy::gateway {
namespace {

// Reads input. Returns false at its end, or if a line is too long.
bool read_input(LineBuffer& lines) {
  std::array<char, 65536> piece;
  const auto count = ::read(STDIN_FILENO, piece.data(), piece.size());
  if (count < 0) return errno == EINTR;
  lines.add({piece.data(), static_cast<std::size_t>(count)});
  return count != 0 && !lines.is_overfull();
}

// Answers all complete lines. Returns false after the last answer, or if nobody reads the answers.
bool answer_lines(LineBuffer& lines, const EventStream& events, const Answerer& answer) {
  while (const auto line = lines.next()) {
    const auto given = answer(*line);
    if (!given.event.empty() && !events.write(given.event)) return false;
    if (given.is_last) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> LineBuffer::next() {
  const auto end = text_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  auto line = text_.substr(0, end);
  text_.erase(0, end + 1);
  return line;
}

bool EventStream::write(std::string line) const {
  line += '\n';
  for (std::string_view rest = line; !rest.empty();) {
    const auto count = ::write(descriptor_, rest.data(), rest.size());
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

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

void run_requests(int signals, const EventStream& events, const Answerer& answer) {
  LineBuffer lines;
  std::array<pollfd, 2> watched{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{signals, POLLIN, 0}};
  while (true) {
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
    if (watched[1].revents != 0) return;
    if (watched[0].revents == 0) continue;
    const bool goes_on = read_input(lines);
    if (!answer_lines(lines, events, answer) || !goes_on) return;
  }
}

}  // namespace natxy::gateway
