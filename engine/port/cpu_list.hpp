// Lists of CPUs as on the command line: 2,3 or 2-3.
#pragma once

#include <string>
#include <vector>

namespace natxy::port {

// Returns the CPUs in the order given. Each may occur once. Throws std::invalid_argument with a
// sentence.
[[nodiscard]] std::vector<int> parse_cpu_list(const std::string& text);

// Returns the CPUs that this process may use.
[[nodiscard]] std::vector<int> allowed_cpus();

}  // namespace natxy::port
