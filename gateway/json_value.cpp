#include "gateway/json_value.hpp"

#include <algorithm>
#include <array>

namespace natxy::gateway {

using nlohmann::json;

IpAddress read_address(const json& value, const std::string& path) {
  const auto text = JsonObject::text_at(value, path);
  if (const auto address = parse_address(text)) return *address;
  throw ConfigError(path + ": \"" + text + "\" is no IP address");
}

Prefix read_prefix(const json& value, const std::string& path) {
  const auto text = JsonObject::text_at(value, path);
  const auto prefix = parse_prefix(text);
  if (!prefix) throw ConfigError(path + ": \"" + text + "\" is no prefix; 198.18.0.0/16 is one");
  if (prefix->has_host_bits()) {
    throw ConfigError(path + ": \"" + text + "\" has bits set behind the prefix; 0 is right there");
  }
  return *prefix;
}

Prefix read_prefix(const json& value, const std::string& path, bool is_ipv6) {
  const auto prefix = read_prefix(value, path);
  if (prefix.address.is_ipv6 == is_ipv6) return prefix;
  throw ConfigError(path + ": an " + (is_ipv6 ? "IPv6" : "IPv4") + " prefix is right");
}

Side read_side(const json& value, const std::string& path) {
  const auto text = JsonObject::text_at(value, path);
  if (text == "left") return Side::kLeft;
  if (text == "right") return Side::kRight;
  throw ConfigError(path + ": \"" + text + "\" is no side; left and right are");
}

Prefix read_translation_prefix(const json& value, const std::string& path) {
  constexpr std::array kLengths{32U, 40U, 48U, 56U, 64U, 96U};
  const auto prefix = read_prefix(value, path, true);
  if (std::ranges::find(kLengths, prefix.length) == kLengths.end()) {
    throw ConfigError(path + ": a length of 32, 40, 48, 56, 64 or 96 is right (RFC 6052, 2.2)");
  }
  if ((prefix.address.value >> 56U & 0xffU) != 0) {
    throw ConfigError(path + ": bits 64 to 71 must be 0 (RFC 6052, 2.2)");
  }
  return prefix;
}

}  // namespace natxy::gateway
