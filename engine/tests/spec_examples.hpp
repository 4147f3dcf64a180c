// The example specs that the package is tested with too.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "spec/json.hpp"

namespace natxy::spec {

inline const std::filesystem::path kExamples = std::filesystem::path(NATXY_EXAMPLES) / "spec";

inline std::string contents(const std::filesystem::path& file) {
  const std::ifstream stream(file);
  EXPECT_TRUE(stream) << file;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

inline std::string valid_example(const std::string& name) {
  return contents(kExamples / "valid" / (name + ".json"));
}

// Returns the sentence with which the engine refuses the spec, or "accepted".
inline std::string refusal(const std::string& text) {
  try {
    (void)parse_spec(text);
  } catch (const SpecError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace natxy::spec
