// CPUs, as the command line writes them: 2,3 or 2-3.
#pragma once

#include <string>
#include <vector>

namespace natxy::port {

// In the order given, each once; throws std::invalid_argument with a sentence.
[[nodiscard]] std::vector<int> parse_cpu_list(const std::string& text);

// Those that this process may run on.
[[nodiscard]] std::vector<int> allowed_cpus();

}  // namespace natxy::port
