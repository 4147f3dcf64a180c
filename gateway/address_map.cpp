#include "gateway/address_map.hpp"

#include <algorithm>

namespace natxy::gateway {
namespace {

constexpr std::size_t kPortOctets = 4;

Port port_at(std::uint8_t protocol, Octets data, std::size_t offset) {
  const bool has_ports = protocol == kUdp || protocol == kTcp;
  if (!has_ports || data.size() < kPortOctets) return std::nullopt;
  return static_cast<std::uint16_t>(read16(data.data() + offset));
}

Port port_in(const Ipv4Packet& packet, std::size_t offset) {
  if (packet.piece.offset != 0) return std::nullopt;
  return port_at(packet.protocol, packet.data(), offset);
}

Port port_in(const Ipv6Packet& packet, std::size_t offset) {
  const auto upper = find_upper(packet);
  if (!upper || (upper->piece && upper->piece->offset != 0)) return std::nullopt;
  return port_at(upper->protocol, upper->data, offset);
}

}  // namespace

// RFC 7597, appendix B: PSID = trunc((P modulo (R * M)) / M). Blocks with excluded ports belong to
// nobody (5.1: A is above 0).
std::optional<std::uint32_t> MappingRule::psid_of(Port port) const {
  if (psid_bits() == 0) return 0;
  if (!port) return std::nullopt;
  const auto block = std::uint32_t{65536} >> psid_offset;  // R * M
  const auto contiguous = block >> psid_bits();            // M
  if (psid_offset > 0 && *port < block) return std::nullopt;
  return *port % block / contiguous;
}

std::optional<IpAddress> MappingRule::to_ipv6(const IpAddress& address, Port port) const {
  const auto psid = psid_of(port);
  if (!ipv4.contains(address) || !psid) return std::nullopt;
  const auto suffix = address.value - ipv4.address.value;
  const auto embedded = (suffix << psid_bits()) + *psid;
  const auto identifier = (address.value << 16U) + *psid;
  return IpAddress::ipv6(ipv6.address.value + (embedded << (ipv6.suffix_bits() - ea_bits)) +
                         identifier);
}

std::optional<IpAddress> MappingRule::to_ipv4(const IpAddress& address, Port port) const {
  if (!ipv6.contains(address)) return std::nullopt;
  const auto embedded = (address.value - ipv6.address.value) >> (ipv6.suffix_bits() - ea_bits);
  const auto suffix = embedded >> psid_bits();
  const auto inside = IpAddress::ipv4(static_cast<std::uint32_t>(ipv4.address.value + suffix));
  if (to_ipv6(inside, port) != address) return std::nullopt;
  return inside;
}

Port source_port(const Ipv4Packet& packet) {
  return port_in(packet, 0);
}
Port source_port(const Ipv6Packet& packet) {
  return port_in(packet, 0);
}
Port destination_port(const Ipv4Packet& packet) {
  return port_in(packet, 2);
}
Port destination_port(const Ipv6Packet& packet) {
  return port_in(packet, 2);
}

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
