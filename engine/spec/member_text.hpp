// Numbers and the paths of list items, as errors name them.
#pragma once

#include <cstdint>
#include <string>

namespace natxy::spec {

[[nodiscard]] inline std::string text(std::uint64_t value) {
  return std::to_string(value);
}

[[nodiscard]] inline std::string at(const std::string& list, std::size_t index) {
  return list + "[" + text(index) + "]";
}

}  // namespace natxy::spec
