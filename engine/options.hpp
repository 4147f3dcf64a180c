// The command line of natxy-engine (docs/reference/engine-protocol.md).
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace natxy {

class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Options {
  std::string left;
  std::string right;
  std::vector<int> cores;
  std::vector<int> main_cores;  // every CPU that the process is allowed, unless given
  std::uint16_t mtu_bytes = 1500;
  bool huge_pages = true;  // if free ones suffice
  unsigned memory_mb = 512;
  std::optional<unsigned> tx_queues;
  bool own_clocks = true;         // of ports that stamp what arrives
  std::optional<int> records_fd;  // a pipe's end for every frame's record
  bool version = false;           // nothing else is asked for
};

// Throws UsageError: one sentence.
[[nodiscard]] Options parse_options(int argc, char* const* argv);

}  // namespace natxy
