// Where events go: the standard output that the process was started with, and nothing else does.
#pragma once

#include <string>

namespace natxy {

class EventWriter {
 public:
  // Takes standard output for itself; what anybody else prints goes to standard error from now on.
  [[nodiscard]] static EventWriter take_standard_output();
  explicit EventWriter(int descriptor) : descriptor_(descriptor) {}

  // Adds the line's end. Once the reader is gone this does nothing.
  void write(const std::string& line);
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  int descriptor_;
  bool broken_ = false;
};

}  // namespace natxy
