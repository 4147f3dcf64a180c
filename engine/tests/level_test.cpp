// Which variant runs on which processor.
#include "plumbing/level.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "plumbing/options.hpp"

namespace natxy::plumbing {
namespace {

const std::vector<std::string> kBuilt{"x86-64-v3", "x86-64-v4"};

// Makes a processor that has all levels up to one, such as '3'.
Supports processor(char widest) {
  return [widest](std::string_view level) { return level.back() <= widest; };
}

std::string refusal(std::string_view asked, const Supports& supports) {
  try {
    return "no refusal: " + chosen_level(kBuilt, asked, supports);
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(Level, TheWidestThatTheProcessorHas) {
  EXPECT_EQ(chosen_level(kBuilt, "", processor('3')), "x86-64-v3");
  EXPECT_EQ(chosen_level(kBuilt, "", processor('4')), "x86-64-v4");
  EXPECT_EQ(chosen_level({"x86-64-v3"}, "", processor('4')), "x86-64-v3");
}

// The variable is also in the environment of the calibration gateway, which has one variant.
TEST(Level, OneVariantLeavesNoChoice) {
  EXPECT_EQ(chosen_level({"x86-64-v3"}, "x86-64-v4", processor('4')), "x86-64-v3");
}

TEST(Level, OneThatIsAskedFor) {
  EXPECT_EQ(chosen_level(kBuilt, "x86-64-v3", processor('4')), "x86-64-v3");
  EXPECT_EQ(chosen_level(kBuilt, "x86-64-v4", processor('4')), "x86-64-v4");
}

TEST(Level, WhatTheProcessorLacksIsRefused) {
  EXPECT_EQ(refusal("x86-64-v4", processor('3')),
            "NATXY_VARIANT: this processor lacks instructions of x86-64-v4 (expected x86-64-v3)");
}

TEST(Level, WhatIsNotBuiltIsRefused) {
  const std::string expected = " (expected x86-64-v3 or x86-64-v4)";
  EXPECT_EQ(refusal("x86-64-v5", processor('4')),
            "NATXY_VARIANT: unknown value \"x86-64-v5\"" + expected);
  EXPECT_EQ(refusal("v4", processor('3')), "NATXY_VARIANT: unknown value \"v4\"" + expected);
}

TEST(Level, AProcessorThatIsTooOldIsToldSo) {
  for (const auto* asked : {"", "x86-64-v3", "x86-64-v4", "x"}) {
    const auto sentence = refusal(asked, processor('2'));
    EXPECT_TRUE(sentence.starts_with("this processor lacks instructions of x86-64-v3 (expected "))
        << sentence;
  }
}

#if defined(__x86_64__)
std::string flags_of_this_processor() {
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("flags")) return line + " ";
  }
  return {};
}

// The kernel shows the flags of features that it saves the registers of.
TEST(Level, OfThisProcessorIsWhatTheKernelShows) {
  const auto flags = flags_of_this_processor();
  const auto has = [&](const std::vector<std::string>& names) {
    return std::ranges::all_of(names, [&](const std::string& name) {
      return flags.find(" " + name + " ") != std::string::npos;
    });
  };
  const bool v2 = has({"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"});
  const bool v3 = v2 && has({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"});
  const bool v4 = v3 && has({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"});
  EXPECT_TRUE(is_supported("x86-64"));
  EXPECT_EQ(is_supported("x86-64-v2"), v2);
  EXPECT_EQ(is_supported("x86-64-v3"), v3);
  EXPECT_EQ(is_supported("x86-64-v4"), v4);
  EXPECT_FALSE(is_supported("x86-64-v5"));
}
#endif

}  // namespace
}  // namespace natxy::plumbing
