// Starts the variant of a program that fits the processor: natxy-engine becomes natxy-engine-LEVEL,
// beside it. Compiled for every x86-64, since it also tells that a processor is too old.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>

#include "plumbing/level.hpp"
#include "plumbing/options.hpp"

namespace natxy::plumbing {
namespace {

constexpr int kUnusable = 2;  // exit status, as that of a wrong command line

std::vector<std::string> built_levels() {
  std::istringstream words(NATXY_LEVELS);
  return {std::istream_iterator<std::string>(words), {}};
}

// Returns only if the variant cannot be started.
int launch(char** argv) {
  const auto* variant = std::getenv("NATXY_VARIANT");
  const auto level = chosen_level(built_levels(), variant == nullptr ? "" : variant, is_supported);
  const auto program = std::filesystem::read_symlink("/proc/self/exe").string() + "-" + level;
  execv(program.c_str(), argv);
  throw UsageError(program + ": cannot be started: " + std::strerror(errno) +
                   " (expected the variant that was built with this program)");
}

}  // namespace
}  // namespace natxy::plumbing

int main(int, char** argv) {
  try {
    return natxy::plumbing::launch(argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, NATXY_PROGRAM ": %s\n", error.what());
    return natxy::plumbing::kUnusable;
  }
}
