// Writes events, one per line, to the standard output that the process was started with.
#pragma once

#include <string>

namespace natxy::plumbing {

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

}  // namespace natxy::plumbing
