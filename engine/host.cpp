#include "host.hpp"

#include <sys/utsname.h>

#include <fstream>

namespace natxy {
namespace {

// Returns the value of the first line "key : value", or an empty string.
std::string value_of(const std::string& key, const std::string& file) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const auto colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    return colon + 2 <= line.size() ? line.substr(colon + 2) : "";
  }
  return {};
}

}  // namespace

std::string cpu_model(const std::string& cpuinfo) {
  const auto model = value_of("model name", cpuinfo);
  return model.empty() ? "unknown" : model;
}

bool tsc_invariant(const std::string& cpuinfo) {
#if defined(__aarch64__)
  static_cast<void>(cpuinfo);
  return true;  // the generic timer's rate is fixed by the architecture
#else
  const auto flags = " " + value_of("flags", cpuinfo) + " ";
  return flags.find(" constant_tsc ") != std::string::npos &&
         flags.find(" nonstop_tsc ") != std::string::npos;
#endif
}

std::string kernel() {
  utsname name{};
  uname(&name);
  return std::string(name.sysname) + " " + name.release;
}

}  // namespace natxy
