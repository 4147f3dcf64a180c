// Levels of x86-64 (https://gitlab.com/x86-psABIs/x86-64-ABI): which of the variants of a program
// runs on this processor.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace natxy::plumbing {

using Supports = std::function<bool(std::string_view level)>;

// Returns whether processor and kernel support all instructions of a level, such as x86-64-v3.
[[nodiscard]] bool is_supported(std::string_view level);

// Returns the widest level that is supported, or the one that is asked for by name. Throws
// UsageError with one sentence. built: the narrowest first. asked: empty for the widest; a program
// with one variant leaves no choice.
[[nodiscard]] std::string chosen_level(const std::vector<std::string>& built,
                                       std::string_view asked, const Supports& supports);

}  // namespace natxy::plumbing
