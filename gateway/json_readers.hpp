// Readers of the parts of the configuration, and of the numbers, addresses, prefixes and sides in
// it. Included only by files that read JSON.
#pragma once

#include <cstdint>

#include "gateway/address.hpp"
#include "gateway/config.hpp"
#include "gateway/frame.hpp"
#include "gateway/nat/nat_config.hpp"
#include "gateway/octets.hpp"
#include "plumbing/json_value.hpp"

namespace natxy::gateway {

// All of them throw ConfigError.

// Reads a fault, apart from those of the stateful translation.
[[nodiscard]] Fault read_fault(plumbing::Object& object);

// Read the configuration of the stateful translation, and its faults.
[[nodiscard]] NatConfig read_nat(plumbing::Object& object);
[[nodiscard]] bool is_nat_fault(const plumbing::Json& value);
[[nodiscard]] NatFault read_nat_fault(plumbing::Object& object);

inline constexpr auto kDuration_ns = plumbing::integer<Nanoseconds>(0, 3'600'000'000'000);
inline constexpr auto kTimeout_ns = plumbing::integer<Nanoseconds>(1, 604'800'000'000'000);
inline constexpr auto kOrdinal = plumbing::integer<std::uint64_t>(1, UINT64_MAX);
inline constexpr auto kAny = plumbing::integer<std::uint64_t>(0, UINT64_MAX);

[[nodiscard]] IpAddress read_address(const plumbing::Value& value);
[[nodiscard]] Prefix read_prefix(const plumbing::Value& value);
[[nodiscard]] Prefix read_ipv4_prefix(const plumbing::Value& value);
[[nodiscard]] Prefix read_ipv6_prefix(const plumbing::Value& value);
// Reads a prefix that RFC 6052 allows.
[[nodiscard]] Prefix read_translation_prefix(const plumbing::Value& value);
[[nodiscard]] Side read_side(const plumbing::Value& value);

}  // namespace natxy::gateway
