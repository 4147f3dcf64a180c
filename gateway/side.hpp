// The gateway's two sides, and the two directions between them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace natxy::gateway {

enum class Side : std::uint8_t { kLeft, kRight };
enum class Direction : std::uint8_t { kForward, kReverse };  // forward: left to right

inline constexpr std::array kSides{Side::kLeft, Side::kRight};
inline constexpr std::array kDirections{Direction::kForward, Direction::kReverse};

[[nodiscard]] constexpr std::size_t index_of(Side side) {
  return static_cast<std::size_t>(side);
}
[[nodiscard]] constexpr std::size_t index_of(Direction direction) {
  return static_cast<std::size_t>(direction);
}
[[nodiscard]] constexpr Direction direction_from(Side side) {
  return side == Side::kLeft ? Direction::kForward : Direction::kReverse;
}
[[nodiscard]] constexpr Side destination_side(Direction direction) {
  return direction == Direction::kForward ? Side::kRight : Side::kLeft;
}
[[nodiscard]] constexpr const char* name_of(Side side) {
  return side == Side::kLeft ? "left" : "right";
}

}  // namespace natxy::gateway
