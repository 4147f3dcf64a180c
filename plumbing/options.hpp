// Reads a command line whose options are data.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace natxy::plumbing {

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Option {
  const char* name;  // without its dashes
  // Takes the value. Throws std::invalid_argument with what is wrong about it.
  std::function<void(const std::string& value)> take;
  bool has_value = true;
};

// What an error says that it expected instead of a word.
struct Expected {
  std::string option;  // instead of an unknown option
  std::string word;    // instead of a word that is no option
};

// Takes the options in their order. Throws UsageError with one sentence.
void read_options(int count, char* const* words, const std::vector<Option>& options,
                  const Expected& expected);

// The following functions read values, and throw std::invalid_argument with a sentence.

// Return a value. range: what comes before the range in an error.
[[nodiscard]] unsigned number(const std::string& value, unsigned min, unsigned max,
                              const std::string& range = "");
[[nodiscard]] bool is_auto(const std::string& value, const std::string& otherwise);

// Returns the CPUs that this process may use.
[[nodiscard]] std::vector<int> allowed_cpus();

// Return the CPUs of a list such as 2,3 or 2-3, in the order given; each may occur once. The second
// one accepts only CPUs that this process may use.
[[nodiscard]] std::vector<int> parse_cpu_list(const std::string& text);
[[nodiscard]] std::vector<int> usable_cpus(const std::string& text);

}  // namespace natxy::plumbing
