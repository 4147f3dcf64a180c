// The requests of a program, one per line on its standard input, and its events, one per line on
// the standard output that it was started with.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace natxy::plumbing {

// Reads lines from a file descriptor.
class LineReader {
 public:
  static constexpr std::size_t kMaxLineOctets = 16U << 20U;

  explicit LineReader(int descriptor) : descriptor_(descriptor) {}

  // Reads what is available. Waits if nothing is.
  void read();
  // Returns the next complete line without its newline. A line longer than kMaxLineOctets is
  // replaced by a text that is not a valid request.
  [[nodiscard]] std::optional<std::string> next();
  // Returns whether the other end is closed. next() may still return lines that came before.
  [[nodiscard]] bool ended() const { return ended_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
  std::string buffer_;
  std::size_t searched_ = 0;  // there is no newline before this index
  bool skipping_ = false;     // skips the rest of a line that was too long
  bool ended_ = false;
};

class EventWriter {
 public:
  // Reserves standard output for events: from now on, all other output goes to standard error.
  [[nodiscard]] static EventWriter take_standard_output();
  explicit EventWriter(int descriptor) : descriptor_(descriptor) {}

  // Writes the line and a newline. Does nothing once the reader has closed its end.
  void write(const std::string& line);
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  int descriptor_;
  bool broken_ = false;
};

// Blocks SIGINT and SIGTERM, also in threads that are started later, and returns a descriptor to
// poll for them. Ignores SIGPIPE: the writer notices a reader that has gone.
[[nodiscard]] int open_signals();

// Hands requests to the program until the last one, the end of input, a signal, or a failed write
// of an event.
class RequestLoop {
 public:
  using Take = std::function<void(const std::string& line)>;
  using Idle = std::function<void()>;

  // signals: becomes readable when the program is to end.
  RequestLoop(int input, int signals, EventWriter& events)
      : lines_(input), signals_(signals), events_(events) {}

  // Serves requests. idle: called about every 20 ms when no request has come; empty: waits for the
  // next request.
  void run(const Take& take, const Idle& idle = {});
  // Takes the requests that came while another one is carried out.
  void listen(const Take& take);
  // Called by the last request.
  void end() { over_ = true; }
  // Returns whether no further request is served.
  [[nodiscard]] bool over() const { return over_ || lines_.ended() || events_.broken(); }

  [[nodiscard]] EventWriter& events() { return events_; }

 private:
  void wait(std::chrono::milliseconds patience);  // below 0: without a limit

  LineReader lines_;
  int signals_;
  EventWriter& events_;
  bool over_ = false;
};

}  // namespace natxy::plumbing
