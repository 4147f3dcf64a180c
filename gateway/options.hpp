// The command line of natxy-gateway.
#pragma once

#include <cstddef>
#include <string>

namespace natxy::gateway {

struct Options {
  std::string left;
  std::string right;
  unsigned core = 0;
  bool may_use_huge_pages = true;
  std::size_t memory_mb = 256;
  std::size_t mtu_bytes = 1500;
  bool shows_version = false;
  bool shows_help = false;
};

// Throws plumbing::UsageError.
[[nodiscard]] Options parse_options(int count, char* const* words);
[[nodiscard]] const char* usage();

}  // namespace natxy::gateway
