#include "plumbing/requests.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace natxy::plumbing {

using std::chrono::milliseconds;

void LineReader::read() {
  if (ended_) return;
  std::array<char, 65536> chunk;
  const auto n = ::read(descriptor_, chunk.data(), chunk.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) {
    ended_ = true;
    return;
  }
  buffer_.append(chunk.data(), static_cast<std::size_t>(n));
}

std::optional<std::string> LineReader::next() {
  for (;;) {
    const auto end = buffer_.find('\n', searched_);
    if (end == std::string::npos) break;
    auto line = buffer_.substr(0, end);
    buffer_.erase(0, end + 1);
    searched_ = 0;
    if (!std::exchange(skipping_, false)) return line;
  }
  searched_ = buffer_.size();
  if (buffer_.size() <= kMaxLineOctets) return std::nullopt;
  buffer_.clear();
  searched_ = 0;
  if (std::exchange(skipping_, true)) return std::nullopt;
  return std::string("a line too long");
}

EventWriter EventWriter::take_standard_output() {
  const int own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return EventWriter(own);
}

void EventWriter::write(const std::string& line) {
  const auto whole = line + '\n';
  std::string_view rest(whole);
  while (!rest.empty() && !broken_) {
    const auto n = ::write(descriptor_, rest.data(), rest.size());
    if (n >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      broken_ = true;
    }
  }
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

void RequestLoop::run(const Take& take, const Idle& idle) {
  while (!over_ && !events_.broken()) {
    if (const auto line = lines_.next()) {
      take(*line);
    } else if (lines_.ended()) {
      return;
    } else {
      wait(milliseconds(idle ? 20 : -1));
      if (idle) idle();
    }
  }
}

void RequestLoop::listen(const Take& take) {
  wait(milliseconds(0));
  while (const auto line = lines_.next()) take(*line);
}

// Uses poll() and not O_NONBLOCK, which would apply to all processes that share the terminal or
// pipe. A descriptor below 0 is not polled.
void RequestLoop::wait(milliseconds patience) {
  std::array<pollfd, 2> watched{
      pollfd{.fd = signals_, .events = POLLIN, .revents = 0},
      pollfd{.fd = lines_.ended() ? -1 : lines_.descriptor(), .events = POLLIN, .revents = 0}};
  if (poll(watched.data(), watched.size(), static_cast<int>(patience.count())) <= 0) return;
  if (watched[0].revents != 0) over_ = true;
  if (watched[1].revents != 0) lines_.read();
}

}  // namespace natxy::plumbing
