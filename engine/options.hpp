// The command line of natxy-engine (docs/reference/engine-protocol.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plumbing/options.hpp"

namespace natxy {

using plumbing::UsageError;

struct Options {
  std::string left;
  std::string right;
  std::vector<int> cores;
  std::vector<int> main_cores;  // default: all CPUs that the process may use
  std::uint16_t mtu_bytes = 1500;
  bool huge_pages = true;  // used if enough of them are free
  unsigned memory_mb = 512;
  std::optional<unsigned> tx_queues;
  unsigned rx_queues = 1;         // of each port
  bool own_clocks = true;         // use the clocks of ports that time-stamp arrivals
  std::optional<int> records_fd;  // write end of the pipe for frame records
  bool version = false;           // print the version and exit
};

// Reads the command line. Throws UsageError with one sentence.
[[nodiscard]] Options parse_options(int argc, char* const* argv);

}  // namespace natxy
