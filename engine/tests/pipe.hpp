// A pipe that a test reads from or writes to; the destructor closes it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <utility>

namespace natxy::tests {

struct Pipe {
  Pipe() { EXPECT_EQ(pipe(ends), 0); }
  ~Pipe() {
    close_reading();
    close_writing();
  }
  void close_reading() {
    if (ends[0] >= 0) close(std::exchange(ends[0], -1));
  }
  void close_writing() {
    if (ends[1] >= 0) close(std::exchange(ends[1], -1));
  }
  int ends[2] = {-1, -1};
};

}  // namespace natxy::tests
