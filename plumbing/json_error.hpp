// The error of a value in JSON; the message starts with the value's path.
#pragma once

#include <stdexcept>
#include <string>

namespace natxy::plumbing {

class JsonError : public std::runtime_error {
 public:
  // Example: "phases[0].gap_ns" and "-1 is out of range (expected 0 to 86400000000000)".
  JsonError(const std::string& path, const std::string& sentence)
      : std::runtime_error(path + ": " + sentence) {}
};

}  // namespace natxy::plumbing
