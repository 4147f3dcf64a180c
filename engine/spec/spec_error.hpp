// The error of a trial spec that is not valid; the message starts with the member's path.
#pragma once

#include <stdexcept>
#include <string>

namespace natxy::spec {

class SpecError : public std::runtime_error {
 public:
  // Example: "phases[0].gap_ns" and "-1 is out of range (expected 0 to 86400000000000)".
  SpecError(const std::string& member, const std::string& sentence)
      : std::runtime_error(member + ": " + sentence) {}
};

}  // namespace natxy::spec
