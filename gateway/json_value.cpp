#include "gateway/json_value.hpp"

#include <algorithm>
#include <array>

namespace natxy::gateway {

using nlohmann::json;

IpAddress read_address(const json& value, const std::string& path) {
  const auto text = JsonObject::text_at(value, path);
  if (const auto address = parse_address(text)) return *address;
  throw ConfigError(
      path + ": \"" + text +
      "\" is not an IP address (expected an address such as 198.18.0.1 or 2001:2::1)");
}

Prefix read_prefix(const json& value, const std::string& path) {
  const auto text = JsonObject::text_at(value, path);
  const auto prefix = parse_prefix(text);
  if (!prefix) {
    throw ConfigError(path + ": \"" + text +
                      "\" is not a prefix (expected a prefix such as 198.18.0.0/16)");
  }
  if (prefix->has_host_bits()) {
    throw ConfigError(path + ": \"" + text + "\" has bits set behind the prefix (expected 0)");
  }
  return *prefix;
}

Prefix read_prefix(const json& value, const std::string& path, bool is_ipv6) {
  const auto prefix = read_prefix(value, path);
  if (prefix.address.is_ipv6 == is_ipv6) return prefix;
  throw ConfigError(path + ": the prefix is of the other IP version (expected an " +
                    (is_ipv6 ? "IPv6" : "IPv4") + " prefix)");
}

Side read_side(const json& value, const std::string& path) {
  const auto text = JsonObject::text_at(value, path);
  if (text == "left") return Side::kLeft;
  if (text == "right") return Side::kRight;
  throw ConfigError(path + ": \"" + text + "\" is unknown (expected left or right)");
}

Prefix read_translation_prefix(const json& value, const std::string& path) {
  constexpr std::array kLengths{32U, 40U, 48U, 56U, 64U, 96U};
  const auto prefix = read_prefix(value, path, true);
  if (std::ranges::find(kLengths, prefix.length) == kLengths.end()) {
    throw ConfigError(path + ": the prefix has a length of " + std::to_string(prefix.length) +
                      " (expected 32, 40, 48, 56, 64 or 96; RFC 6052, 2.2)");
  }
  if ((prefix.address.value >> 56U & 0xffU) != 0) {
    throw ConfigError(path + ": bits 64 to 71 are not 0 (expected 0; RFC 6052, 2.2)");
  }
  return prefix;
}

}  // namespace natxy::gateway
