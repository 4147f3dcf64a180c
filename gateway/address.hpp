// IP and MAC addresses, and prefixes of IP addresses.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/octets.hpp"

namespace natxy::gateway {

using Mac = std::array<std::uint8_t, 6>;

// An IP address as a number, whose most significant octet is the first one.
struct IpAddress {
  Uint128 value = 0;
  bool is_ipv6 = false;

  [[nodiscard]] static IpAddress ipv4(std::uint32_t value) { return {value, false}; }
  [[nodiscard]] static IpAddress ipv6(Uint128 value) { return {value, true}; }
  [[nodiscard]] static IpAddress read_ipv4(const std::uint8_t* from) { return ipv4(read32(from)); }
  [[nodiscard]] static IpAddress read_ipv6(const std::uint8_t* from) {
    return ipv6(Uint128{read64(from)} << 64U | read64(from + 8));
  }

  [[nodiscard]] unsigned bits() const { return is_ipv6 ? 128 : 32; }
  void write(std::uint8_t* to) const;
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

struct IpAddressHash {
  [[nodiscard]] std::size_t operator()(const IpAddress& address) const {
    const auto low = static_cast<std::uint64_t>(address.value);
    const auto high = static_cast<std::uint64_t>(address.value >> 64U);
    return std::hash<std::uint64_t>{}((low ^ high * 31) * 0x9e3779b97f4a7c15U);
  }
};

struct Prefix {
  IpAddress address;
  unsigned length = 0;

  [[nodiscard]] bool contains(const IpAddress& other) const {
    if (other.is_ipv6 != address.is_ipv6) return false;
    return length == 0 || (other.value ^ address.value) >> (address.bits() - length) == 0;
  }
  [[nodiscard]] unsigned suffix_bits() const { return address.bits() - length; }
  [[nodiscard]] bool has_host_bits() const;
};

// Returns the entry with the longest prefix that contains the address (the first of equal ones), or
// null.
template <typename Entry>
[[nodiscard]] const Entry* find_longest(const std::vector<Entry>& entries, Prefix Entry::*prefix,
                                        const IpAddress& address) {
  const Entry* best = nullptr;
  for (const auto& entry : entries) {
    const bool is_longer = best == nullptr || (entry.*prefix).length > (best->*prefix).length;
    if (is_longer && (entry.*prefix).contains(address)) best = &entry;
  }
  return best;
}

// Parse a text; absent if it is not valid. A prefix without a length is a single address.
[[nodiscard]] std::optional<IpAddress> parse_address(std::string_view text);
[[nodiscard]] std::optional<Mac> parse_mac(std::string_view text);
[[nodiscard]] std::optional<Prefix> parse_prefix(std::string_view text);

[[nodiscard]] std::string to_text(const IpAddress& address);
[[nodiscard]] std::string to_text(const Mac& mac);

// Return whether the address is a multicast address, one that is invalid as a source (RFC 1812,
// 5.3.7; RFC 4291, 2.5.2 and 2.5.3), or a link-local one.
[[nodiscard]] bool is_multicast(const IpAddress& address);
[[nodiscard]] bool is_illegal_source(const IpAddress& address);
[[nodiscard]] bool is_link_local(const IpAddress& address);

}  // namespace natxy::gateway
