// The command line of natxy-gateway.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>

namespace natxy::gateway {

struct OptionsError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

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

[[nodiscard]] Options parse_options(int count, char** words);
[[nodiscard]] const char* usage();

}  // namespace natxy::gateway
