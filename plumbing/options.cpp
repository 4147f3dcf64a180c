#include "plumbing/options.hpp"

#include <getopt.h>

#include <charconv>

namespace natxy::plumbing {

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

}  // namespace natxy::plumbing
