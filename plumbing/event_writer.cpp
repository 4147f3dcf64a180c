#include "plumbing/event_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace natxy::plumbing {

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

}  // namespace natxy::plumbing
