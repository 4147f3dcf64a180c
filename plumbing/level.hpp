// Levels of x86-64 (https://gitlab.com/x86-psABIs/x86-64-ABI): which of the variants of a program
// runs on this processor.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "plumbing/options.hpp"

namespace natxy::plumbing {

using Supports = std::function<bool(std::string_view level)>;

// Returns whether processor and kernel support all instructions of a level, such as x86-64-v3.
[[nodiscard]] inline bool is_supported(std::string_view level) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (level == "x86-64-v2") return __builtin_cpu_supports("x86-64-v2") != 0;
  if (level == "x86-64-v3") return __builtin_cpu_supports("x86-64-v3") != 0;
  if (level == "x86-64-v4") return __builtin_cpu_supports("x86-64-v4") != 0;
  return level == "x86-64";
#else
  static_cast<void>(level);
  return true;  // there is one variant, for all processors of the architecture
#endif
}

// Returns names for an error: "x86-64-v3 or x86-64-v4".
[[nodiscard]] inline std::string listed(const std::vector<std::string>& levels) {
  std::string text;
  for (const auto& level : levels) text += (text.empty() ? "" : " or ") + level;
  return text;
}

// Returns the widest level that is supported, or the one that is asked for by name. Throws
// UsageError with one sentence. built: the narrowest first. asked: empty for the widest; a program
// with one variant leaves no choice.
[[nodiscard]] inline std::string chosen_level(const std::vector<std::string>& built,
                                              std::string_view variant, const Supports& supports) {
  std::vector<std::string> usable;
  std::ranges::copy_if(built, std::back_inserter(usable), supports);
  if (usable.empty()) {
    throw UsageError("this processor lacks instructions of " + built.front() +
                     " (expected a processor of that level: Intel's since 2013, AMD's since 2015, "
                     "or a virtual machine that passes its host's CPU flags on)");
  }
  if (variant.empty() || built.size() == 1) return usable.back();
  const auto is_it = [&](const std::string& level) { return level == variant; };
  if (std::ranges::none_of(built, is_it)) {
    throw UsageError("NATXY_VARIANT: unknown value \"" + std::string(variant) + "\" (expected " +
                     listed(built) + ")");
  }
  if (std::ranges::none_of(usable, is_it)) {
    throw UsageError("NATXY_VARIANT: this processor lacks instructions of " + std::string(variant) +
                     " (expected " + listed(usable) + ")");
  }
  return std::string(variant);
}

}  // namespace natxy::plumbing
