#include "port/cpu_list.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>

namespace natxy::port {
namespace {

constexpr int kMaxCpu = CPU_SETSIZE - 1;

[[noreturn]] void refuse_list(const std::string& text) {
  throw std::invalid_argument(
      "\"" + text + "\" is not a list of CPUs (expected a list such as 2,3 or 2-3, each CPU once)");
}

int number(const std::string& part, const std::string& whole) {
  int value = -1;
  const auto* end = part.data() + part.size();
  const auto [rest, error] = std::from_chars(part.data(), end, value);
  if (error != std::errc() || rest != end || value < 0 || value > kMaxCpu) refuse_list(whole);
  return value;
}

}  // namespace

std::vector<int> parse_cpu_list(const std::string& text) {
  std::vector<int> cpus;
  std::istringstream stream(text);
  if (text.empty() || text.back() == ',') refuse_list(text);
  for (std::string part; std::getline(stream, part, ',');) {
    const auto dash = part.find('-');
    const int first = number(part.substr(0, dash), text);
    const int last = dash == std::string::npos ? first : number(part.substr(dash + 1), text);
    if (last < first) refuse_list(text);
    for (int cpu = first; cpu <= last; ++cpu) {
      if (std::ranges::find(cpus, cpu) != cpus.end()) refuse_list(text);
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu <= kMaxCpu; ++cpu) {
    if (CPU_ISSET(static_cast<unsigned>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

}  // namespace natxy::port
