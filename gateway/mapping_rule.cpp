#include "gateway/mapping_rule.hpp"

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
  const auto found = IpAddress::ipv4(static_cast<std::uint32_t>(ipv4.address.value + suffix));
  if (to_ipv6(found, port) != address) return std::nullopt;
  return found;
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

}  // namespace natxy::gateway
