// Values that several parts of the configuration use: ranges, addresses, prefixes, sides. Included
// only by files that read JSON.
#pragma once

#include <cstdint>
#include <string>

#include "gateway/address.hpp"
#include "gateway/side.hpp"
#include "plumbing/json_value.hpp"

namespace natxy::gateway {

struct Range {
  std::uint64_t min;
  std::uint64_t max;
};
inline constexpr Range kDuration_ns{0, 3'600'000'000'000};
inline constexpr Range kTimeout_ns{1, 604'800'000'000'000};
inline constexpr Range kOrdinal{1, UINT64_MAX};
inline constexpr Range kAny{0, UINT64_MAX};

// Each throws ConfigError.
[[nodiscard]] std::uint64_t read_number(const plumbing::Value& value, Range range);
// Reads a member.
[[nodiscard]] std::uint64_t number(plumbing::Object& object, const std::string& name, Range range);
[[nodiscard]] std::uint64_t number_or(plumbing::Object& object, const std::string& name,
                                      std::uint64_t otherwise, Range range);
[[nodiscard]] IpAddress read_address(const plumbing::Value& value);
[[nodiscard]] Prefix read_prefix(const plumbing::Value& value);
[[nodiscard]] Prefix read_prefix(const plumbing::Value& value, bool is_ipv6);
// Reads a prefix that RFC 6052 allows.
[[nodiscard]] Prefix read_translation_prefix(const plumbing::Value& value);
[[nodiscard]] Side read_side(const plumbing::Value& value);

}  // namespace natxy::gateway
