#include "gateway/address.hpp"

#include <arpa/inet.h>

#include <charconv>

namespace natxy::gateway {

void IpAddress::write(std::uint8_t* to) const {
  if (!is_ipv6) return write32(to, static_cast<std::uint32_t>(value));
  write64(to, static_cast<std::uint64_t>(value >> 64U));
  write64(to + 8, static_cast<std::uint64_t>(value));
}

bool Prefix::has_host_bits() const {
  const auto suffix = suffix_bits();
  if (suffix == 0) return false;
  const auto kept = suffix == 128 ? 0 : address.value >> suffix << suffix;
  return kept != address.value;
}

std::optional<IpAddress> parse_address(std::string_view text) {
  const std::string terminated(text);
  std::array<std::uint8_t, 16> octets{};
  if (inet_pton(AF_INET, terminated.c_str(), octets.data()) == 1) {
    return IpAddress::read_ipv4(octets.data());
  }
  if (inet_pton(AF_INET6, terminated.c_str(), octets.data()) == 1) {
    return IpAddress::read_ipv6(octets.data());
  }
  return std::nullopt;
}

std::optional<Mac> parse_mac(std::string_view text) {
  constexpr std::size_t kText = 17;
  if (text.size() != kText) return std::nullopt;
  Mac mac{};
  for (std::size_t i = 0; i < mac.size(); ++i) {
    const auto* from = text.data() + 3 * i;
    const auto [end, error] = std::from_chars(from, from + 2, mac[i], 16);
    if (error != std::errc{} || end != from + 2) return std::nullopt;
    if (i + 1 < mac.size() && from[2] != ':') return std::nullopt;
  }
  return mac;
}

std::optional<Prefix> parse_prefix(std::string_view text) {
  const auto slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  if (!address) return std::nullopt;
  if (slash == std::string_view::npos) return Prefix{*address, address->bits()};
  const auto digits = text.substr(slash + 1);
  unsigned length = 0;
  const auto* last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, length);
  if (error != std::errc{} || end != last || length > address->bits()) return std::nullopt;
  return Prefix{*address, length};
}

std::string to_text(const IpAddress& address) {
  std::array<std::uint8_t, 16> octets{};
  std::array<char, INET6_ADDRSTRLEN> text{};
  address.write(octets.data());
  inet_ntop(address.is_ipv6 ? AF_INET6 : AF_INET, octets.data(), text.data(), text.size());
  return text.data();
}

std::string to_text(const Mac& mac) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const auto octet : mac) {
    if (!text.empty()) text += ':';
    text += kDigits[octet >> 4U];
    text += kDigits[octet & 15U];
  }
  return text;
}

bool is_multicast(const IpAddress& address) {
  if (address.is_ipv6) return address.value >> 120U == 0xff;
  return address.value >> 28U == 0xe || address.value == 0xffffffffU;
}

bool is_illegal_source(const IpAddress& address) {
  if (is_multicast(address)) return true;
  if (address.is_ipv6) return address.value <= 1;  // :: and ::1
  return address.value >> 24U == 0 || address.value >> 24U == 127;
}

bool is_link_local(const IpAddress& address) {
  return address.is_ipv6 ? address.value >> 118U == 0x3fa : address.value >> 16U == 0xa9fe;
}

}  // namespace natxy::gateway
