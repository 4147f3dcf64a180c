// An IP address of either version.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>

#include "spec/trial_spec.hpp"

namespace natxy::port {

using Mac = std::array<std::uint8_t, 6>;

struct IpAddress {
  spec::IpVersion version = spec::IpVersion::k4;
  std::array<std::uint8_t, 16> octets{};  // network order; IPv4 uses the first 4, the rest is 0

  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;
};

[[nodiscard]] std::string to_text(const IpAddress& address);
[[nodiscard]] std::string to_text(const Mac& mac);

// Parses an address, which the reader of the spec has already accepted.
[[nodiscard]] IpAddress parse_address(const std::string& text);

}  // namespace natxy::port
