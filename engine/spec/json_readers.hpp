// Readers of the members that several objects of a spec have.
#pragma once

#include <arpa/inet.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "plumbing/json_value.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::spec {

// Reads one kind of traffic of a spec. Throws SpecError.
[[nodiscard]] Traffic read_traffic(plumbing::Object& object);

// Reads an IPv4 address (4 octets) or an IPv6 address (16).
template <std::size_t kOctets>
std::array<std::uint8_t, kOctets> address(const plumbing::Value& value) {
  constexpr int kFamily = kOctets == 4 ? AF_INET : AF_INET6;
  std::array<std::uint8_t, kOctets> octets{};
  // inet_pton() would stop at a zero octet within the text.
  const auto& text = value.text();
  if (text.find('\0') != std::string::npos ||
      inet_pton(kFamily, text.c_str(), octets.data()) != 1) {
    value.refuse(kOctets == 4 ? "is not an IPv4 address (expected an address such as 198.18.0.1)"
                              : "is not an IPv6 address (expected an address such as 2001:2::1)");
  }
  return octets;
}

// Reads a number without limits.
inline constexpr auto kAnyNumber =
    plumbing::integer<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max());

}  // namespace natxy::spec
