// Writes the record of each frame to the pipe of --records-fd (docs/reference/engine-protocol.md).
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "run/clock.hpp"
#include "run/frame_record.hpp"

namespace natxy {

class RecordWriter {
 public:
  // descriptor: the write end of a pipe that the process has inherited; must stay open.
  RecordWriter(int descriptor, run::TickRate ticks);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  [[nodiscard]] run::RecordRings& rings() { return rings_; }

 private:
  void empty_rings();
  void write(const run::FrameRecord* records, std::size_t n);

  int descriptor_;
  run::TickRate ticks_;
  run::RecordRings rings_;
  std::vector<std::uint8_t> octets_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

// Returns whether the descriptor is open for writing.
[[nodiscard]] bool is_writable(int descriptor);

}  // namespace natxy
