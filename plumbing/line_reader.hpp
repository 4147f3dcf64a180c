// Reads lines from a file descriptor, with a limit on each wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace natxy::plumbing {

class LineReader {
 public:
  static constexpr std::size_t kMaxLineOctets = 16U << 20U;

  explicit LineReader(int descriptor) : descriptor_(descriptor) {}

  // Waits for input, for at most `patience`, and reads what is available.
  void wait(std::chrono::milliseconds patience);
  // Returns the next complete line without its newline. A line longer than kMaxLineOctets is
  // replaced by a text that is not a valid request.
  [[nodiscard]] std::optional<std::string> next();
  // Returns whether the other end is closed. next() may still return lines that came before.
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  int descriptor_;
  std::string buffer_;
  std::size_t searched_ = 0;  // there is no newline before this index
  bool skipping_ = false;     // skips the rest of a line that was too long
  bool ended_ = false;
};

}  // namespace natxy::plumbing
