#include "plumbing/line_reader.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace natxy::plumbing {

// Uses poll() and not O_NONBLOCK, which would apply to all processes that share the terminal or
// pipe.
void LineReader::wait(std::chrono::milliseconds patience) {
  if (ended_) return;
  pollfd watched{.fd = descriptor_, .events = POLLIN, .revents = 0};
  if (poll(&watched, 1, static_cast<int>(patience.count())) <= 0) return;
  std::array<char, 65536> chunk;
  const auto n = read(descriptor_, chunk.data(), chunk.size());
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

}  // namespace natxy::plumbing
