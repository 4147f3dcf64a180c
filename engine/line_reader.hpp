// Lines from a file descriptor, without ever waiting longer than asked.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace natxy {

class LineReader {
 public:
  static constexpr std::size_t kMaxLineOctets = 8U << 20U;

  explicit LineReader(int descriptor) : descriptor_(descriptor) {}

  // Waits for input at most so long, then reads what is there.
  void wait(std::chrono::milliseconds patience);
  // The next whole line without its end. A line that is too long is cut, which makes it wrong.
  [[nodiscard]] std::optional<std::string> next();
  // The other end is closed; what next() still gives came before.
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  int descriptor_;
  std::string buffer_;
  std::size_t searched_ = 0;  // no line ends before here
  bool skipping_ = false;     // the rest of a line that was too long
  bool ended_ = false;
};

}  // namespace natxy
