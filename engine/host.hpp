// What a result must say about the machine that it was taken on.
#pragma once

#include <string>

namespace natxy {

[[nodiscard]] std::string cpu_model(const std::string& cpuinfo = "/proc/cpuinfo");
// The time stamp counter runs at one rate in every state of the processor.
[[nodiscard]] bool tsc_invariant(const std::string& cpuinfo = "/proc/cpuinfo");
[[nodiscard]] std::string kernel();

}  // namespace natxy
