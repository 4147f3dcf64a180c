// Readers that several parts of the configuration use: of numbers, addresses, prefixes, sides.
// Included only by files that read JSON.
#pragma once

#include <cstdint>

#include "gateway/address.hpp"
#include "gateway/octets.hpp"
#include "gateway/side.hpp"
#include "plumbing/json_value.hpp"

namespace natxy::gateway {

inline constexpr auto kDuration_ns = plumbing::integer<Nanoseconds>(0, 3'600'000'000'000);
inline constexpr auto kTimeout_ns = plumbing::integer<Nanoseconds>(1, 604'800'000'000'000);
inline constexpr auto kOrdinal = plumbing::integer<std::uint64_t>(1, UINT64_MAX);
inline constexpr auto kAny = plumbing::integer<std::uint64_t>(0, UINT64_MAX);

// Each throws ConfigError.
[[nodiscard]] IpAddress read_address(const plumbing::Value& value);
[[nodiscard]] Prefix read_prefix(const plumbing::Value& value);
[[nodiscard]] Prefix read_ipv4_prefix(const plumbing::Value& value);
[[nodiscard]] Prefix read_ipv6_prefix(const plumbing::Value& value);
// Reads a prefix that RFC 6052 allows.
[[nodiscard]] Prefix read_translation_prefix(const plumbing::Value& value);
[[nodiscard]] Side read_side(const plumbing::Value& value);

}  // namespace natxy::gateway
