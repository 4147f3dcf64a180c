// The names of sides, directions, kinds and defects in messages.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "frame/arrival.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::run {

[[nodiscard]] inline std::string words(spec::Side side) {
  return side == spec::Side::kLeft ? "left" : "right";
}
[[nodiscard]] inline std::string words(spec::Direction direction) {
  return direction == spec::Direction::kForward ? "forward" : "reverse";
}
[[nodiscard]] inline std::string words(spec::Kind kind) {
  return kind == spec::Kind::kForeground ? "foreground" : "background";
}
[[nodiscard]] inline std::string words(frame::Defect defect) {
  static constexpr const char* kWords[] = {"nothing",
                                           "form",
                                           "checksum",
                                           "frame number",
                                           "length",
                                           "outer address",
                                           "address",
                                           "port",
                                           "sequence or acknowledgement number",
                                           "hop limit",
                                           "traffic class or flow label",
                                           "VLAN tag, extension header or TCP header"};
  static_assert(std::size(kWords) == frame::kDefects);
  return kWords[static_cast<std::size_t>(defect)];
}

[[nodiscard]] inline std::string hex(const std::vector<std::uint8_t>& octets) {
  static constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const auto octet : octets) {
    text += kDigits[octet >> 4U];
    text += kDigits[octet & 0xfU];
  }
  return text;
}

// Returns a duration as "1.25 ms" or "15 s", with four significant digits at most.
[[nodiscard]] inline std::string milliseconds(std::uint64_t ns) {
  char text[32];
  const bool long_one = ns >= 1'000'000'000;
  std::snprintf(text, sizeof text, long_one ? "%.4g s" : "%.4g ms",
                static_cast<double>(ns) / (long_one ? 1e9 : 1e6));
  return text;
}

}  // namespace natxy::run
