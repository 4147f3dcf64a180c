#include "plumbing/options.hpp"

#include <getopt.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>

namespace natxy::plumbing {
namespace {

constexpr int kMaxCpu = CPU_SETSIZE - 1;

[[noreturn]] void refuse_list(const std::string& text) {
  throw std::invalid_argument(
      "\"" + text + "\" is not a list of CPUs (expected a list such as 2,3 or 2-3, each CPU once)");
}

int cpu_of(const std::string& part, const std::string& whole) {
  int value = -1;
  const auto* end = part.data() + part.size();
  const auto [rest, error] = std::from_chars(part.data(), end, value);
  if (error != std::errc() || rest != end || value < 0 || value > kMaxCpu) refuse_list(whole);
  return value;
}

}  // namespace

void read_options(int count, char* const* words, const std::vector<Option>& options,
                  const Expected& expected) {
  std::vector<option> known;  // numbered, because getopt compares them to find ambiguous ones
  for (const auto& [name, take, has_value] : options) {
    const int argument = has_value ? required_argument : no_argument;
    known.push_back({name, argument, nullptr, static_cast<int>(known.size())});
  }
  known.push_back({});
  opterr = 0;  // getopt prints no messages of its own
  optind = 0;
  for (;;) {
    const int at = optind == 0 ? 1 : optind;
    const int index = getopt_long(count, words, "+", known.data(), nullptr);
    if (index == -1) break;
    if (index == '?') {
      throw UsageError(std::string(words[at]) +
                       ": is an unknown option or has no value (expected " + expected.option + ")");
    }
    const auto& option = options[static_cast<std::size_t>(index)];
    try {
      option.take(optarg == nullptr ? "" : optarg);
    } catch (const std::invalid_argument& error) {
      throw UsageError(std::string("--") + option.name + ": " + error.what());
    }
  }
  if (optind < count) {
    throw UsageError(std::string(words[optind]) + ": is not an option (expected " + expected.word +
                     ")");
  }
}

unsigned number(const std::string& value, unsigned min, unsigned max, const std::string& range) {
  unsigned number = 0;
  const auto* end = value.data() + value.size();
  const auto [rest, error] = std::from_chars(value.data(), end, number);
  if (error == std::errc() && rest == end && number >= min && number <= max) return number;
  throw std::invalid_argument("\"" + value + "\" is out of range (expected " + range +
                              std::to_string(min) + " to " + std::to_string(max) + ")");
}

bool is_auto(const std::string& value, const std::string& otherwise) {
  if (value == "auto" || value == otherwise) return value == "auto";
  throw std::invalid_argument("\"" + value + "\" is unknown (expected auto or " + otherwise + ")");
}

std::vector<int> parse_cpu_list(const std::string& text) {
  std::vector<int> cpus;
  std::istringstream stream(text);
  if (text.empty() || text.back() == ',') refuse_list(text);
  for (std::string part; std::getline(stream, part, ',');) {
    const auto dash = part.find('-');
    const int first = cpu_of(part.substr(0, dash), text);
    const int last = dash == std::string::npos ? first : cpu_of(part.substr(dash + 1), text);
    if (last < first) refuse_list(text);
    for (int cpu = first; cpu <= last; ++cpu) {
      if (std::ranges::find(cpus, cpu) != cpus.end()) refuse_list(text);
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

std::vector<int> usable_cpus(const std::string& text) {
  const auto allowed = allowed_cpus();
  auto list = parse_cpu_list(text);
  for (const int cpu : list) {
    if (std::ranges::find(allowed, cpu) != allowed.end()) continue;
    throw std::invalid_argument("this process may not use CPU " + std::to_string(cpu) +
                                " (expected one of the " + std::to_string(allowed.size()) +
                                " CPUs that it may use)");
  }
  return list;
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

}  // namespace natxy::plumbing
