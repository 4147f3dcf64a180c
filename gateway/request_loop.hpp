// Reads requests from standard input and answers them, until the end of input, a request to quit
// or a signal.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace natxy::gateway {

// The lines in what comes piece by piece.
class LineBuffer {
 public:
  static constexpr std::size_t kLongest = 16 << 20;

  void add(std::string_view piece) { text_ += piece; }
  [[nodiscard]] std::optional<std::string> next();
  [[nodiscard]] bool is_overfull() const { return text_.size() > kLongest; }

 private:
  std::string text_;
};

// A descriptor on which the events are written, a line each.
class EventStream {
 public:
  explicit EventStream(int descriptor) : descriptor_(descriptor) {}
  // False: nobody reads any more.
  [[nodiscard]] bool write(std::string line) const;

 private:
  int descriptor_;
};

// SIGINT and SIGTERM, blocked for every thread that is started later, as a descriptor to poll.
[[nodiscard]] int open_signals();

struct Answer {
  std::string event;  // none where empty
  bool is_last = false;
};
using Answerer = std::function<Answer(const std::string& line)>;

void run_requests(int signals, const EventStream& events, const Answerer& answer);

}  // namespace natxy::gateway
