// Properties of the machine that a result records.
#pragma once

#include <string>

namespace natxy {

[[nodiscard]] std::string cpu_model(const std::string& cpuinfo = "/proc/cpuinfo");
// Returns whether the time stamp counter runs at one rate in every state of the processor.
[[nodiscard]] bool tsc_invariant(const std::string& cpuinfo = "/proc/cpuinfo");
[[nodiscard]] std::string kernel();

}  // namespace natxy
