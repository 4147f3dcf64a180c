#include "gateway/json_value.hpp"

#include <algorithm>
#include <array>

#include "gateway/json.hpp"

namespace natxy::gateway {

using plumbing::Names;
using plumbing::Value;

namespace {

Prefix read_prefix_of(const Value& value, bool is_ipv6) {
  const auto prefix = read_prefix(value);
  if (prefix.address.is_ipv6 == is_ipv6) return prefix;
  throw ConfigError(value.path(),
                    std::string("the prefix is of the other IP version (expected an ") +
                        (is_ipv6 ? "IPv6" : "IPv4") + " prefix)");
}

}  // namespace

IpAddress read_address(const Value& value) {
  if (const auto address = parse_address(value.text())) return *address;
  value.refuse("is not an IP address (expected an address such as 198.18.0.1 or 2001:2::1)");
}

Prefix read_prefix(const Value& value) {
  const auto prefix = parse_prefix(value.text());
  if (!prefix) value.refuse("is not a prefix (expected a prefix such as 198.18.0.0/16)");
  if (prefix->has_host_bits()) value.refuse("has bits set behind the prefix (expected 0)");
  return *prefix;
}

Prefix read_ipv4_prefix(const Value& value) {
  return read_prefix_of(value, false);
}

Prefix read_ipv6_prefix(const Value& value) {
  return read_prefix_of(value, true);
}

Side read_side(const Value& value) {
  static const Names<Side> kNames{{"left", Side::kLeft}, {"right", Side::kRight}};
  return value.one_of(kNames);
}

Prefix read_translation_prefix(const Value& value) {
  constexpr std::array kLengths{32U, 40U, 48U, 56U, 64U, 96U};
  const auto prefix = read_ipv6_prefix(value);
  if (std::ranges::find(kLengths, prefix.length) == kLengths.end()) {
    throw ConfigError(value.path(), "the prefix has a length of " + std::to_string(prefix.length) +
                                        " (expected 32, 40, 48, 56, 64 or 96; RFC 6052, 2.2)");
  }
  if ((prefix.address.value >> 56U & 0xffU) != 0) {
    throw ConfigError(value.path(), "bits 64 to 71 are not 0 (expected 0; RFC 6052, 2.2)");
  }
  return prefix;
}

}  // namespace natxy::gateway
