// Reads requests from standard input and answers them, until the end of input, the request `quit`,
// or a signal.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace natxy::gateway {

// Splits input that arrives in pieces into lines.
class LineBuffer {
 public:
  static constexpr std::size_t kLongest = 16 << 20;

  void add(std::string_view piece) { text_ += piece; }
  [[nodiscard]] std::optional<std::string> next();
  [[nodiscard]] bool is_overfull() const { return text_.size() > kLongest; }

 private:
  std::string text_;
};

// Writes events to a descriptor, one per line.
class EventStream {
 public:
  explicit EventStream(int descriptor) : descriptor_(descriptor) {}
  // Returns false if the reader has closed its end.
  [[nodiscard]] bool write(std::string line) const;

 private:
  int descriptor_;
};

// Blocks SIGINT and SIGTERM, also in threads that are started later, and returns a descriptor to
// poll for them.
[[nodiscard]] int open_signals();

struct Answer {
  std::string event;  // empty if there is no answer
  bool is_last = false;
};
using Answerer = std::function<Answer(const std::string& line)>;

void run_requests(int signals, const EventStream& events, const Answerer& answer);

}  // namespace natxy::gateway
