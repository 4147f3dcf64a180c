#include "gateway/address_map.hpp"

#include <algorithm>

namespace natxy::gateway {
namespace {

constexpr unsigned kFirstSkippedBit = 64;  // the octet that RFC 6052, 2.2 calls "u"

Uint128 low_bits(Uint128 value, unsigned count) {
  return count == 128 ? value : value & ((Uint128{1} << count) - 1);
}

// Returns how many bits of the IPv4 address are before the octet that is left out.
unsigned bits_before_gap(unsigned prefix_length) {
  return prefix_length >= kFirstSkippedBit ? 0 : std::min(32U, kFirstSkippedBit - prefix_length);
}

// Returns the distance from the end of the bits after the gap to the end of the address.
unsigned shift_behind_gap(unsigned count) {
  return 56 - count;
}

}  // namespace

IpAddress embed(const Prefix& prefix, const IpAddress& ipv4) {
  if (prefix.length == 96) return IpAddress::ipv6(prefix.address.value | ipv4.value);
  const auto before = bits_before_gap(prefix.length);
  const auto behind = 32 - before;
  const auto high = ipv4.value >> behind << 64U;
  const auto low = low_bits(ipv4.value, behind) << shift_behind_gap(behind);
  return IpAddress::ipv6(prefix.address.value | high | low);
}

IpAddress extract(const Prefix& prefix, const IpAddress& ipv6) {
  if (prefix.length == 96) return IpAddress::ipv4(static_cast<std::uint32_t>(ipv6.value));
  const auto before = bits_before_gap(prefix.length);
  const auto behind = 32 - before;
  const auto high = low_bits(ipv6.value >> 64U, before) << behind;
  const auto low = low_bits(ipv6.value >> shift_behind_gap(behind), behind);
  return IpAddress::ipv4(static_cast<std::uint32_t>(high | low));
}

bool AddressMap::is_explicit(const IpAddress& ipv4) const {
  return find_longest(mappings, &ExplicitMapping::ipv4, ipv4) != nullptr ||
         find_longest(rules, &MappingRule::ipv4, ipv4) != nullptr;
}

const MappingRule* AddressMap::rule_of(const IpAddress& address) const {
  return find_longest(rules, address.is_ipv6 ? &MappingRule::ipv6 : &MappingRule::ipv4, address);
}

// RFC 7757, 3.3.1: the suffix follows the IPv6 prefix, zeros follow the suffix.
std::optional<IpAddress> AddressMap::to_ipv6(const IpAddress& ipv4, Port port) const {
  if (const auto* mapping = find_longest(mappings, &ExplicitMapping::ipv4, ipv4)) {
    const auto suffix_bits = mapping->ipv4.suffix_bits();
    const auto padding = mapping->ipv6.suffix_bits() - suffix_bits;
    const auto suffix = low_bits(ipv4.value, suffix_bits);
    const auto moved = padding == 128 ? 0 : suffix << padding;
    return IpAddress::ipv6(mapping->ipv6.address.value | moved);
  }
  if (const auto* rule = find_longest(rules, &MappingRule::ipv4, ipv4)) {
    return rule->to_ipv6(ipv4, port);
  }
  if (!prefix) return std::nullopt;
  return embed(*prefix, ipv4);
}

// RFC 7757, 3.3.2: takes as many bits of the IPv6 suffix as the IPv4 prefix leaves; drops the rest.
std::optional<IpAddress> AddressMap::to_ipv4(const IpAddress& ipv6, Port port) const {
  if (const auto* mapping = find_longest(mappings, &ExplicitMapping::ipv6, ipv6)) {
    const auto suffix_bits = mapping->ipv4.suffix_bits();
    const auto padding = mapping->ipv6.suffix_bits() - suffix_bits;
    const auto suffix = padding == 128 ? 0 : low_bits(ipv6.value >> padding, suffix_bits);
    return IpAddress::ipv4(static_cast<std::uint32_t>(mapping->ipv4.address.value | suffix));
  }
  if (const auto* rule = find_longest(rules, &MappingRule::ipv6, ipv6)) {
    return rule->to_ipv4(ipv6, port);
  }
  if (!prefix || !prefix->contains(ipv6)) return std::nullopt;
  return extract(*prefix, ipv6);
}

}  // namespace natxy::gateway
