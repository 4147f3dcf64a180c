// A Mapping Rule of MAP (RFC 7597, 5): which IPv6 address a customer has, from its IPv4 address and
// port. The binding table of a lwAFTR (RFC 7596) that follows a rule is one too.
#pragma once

#include <cstdint>
#include <optional>

#include "gateway/address.hpp"
#include "gateway/packet.hpp"

namespace natxy::gateway {

using Port = std::optional<std::uint16_t>;  // absent: the packet has none

struct MappingRule {
  Prefix ipv6;
  Prefix ipv4;
  unsigned ea_bits = 0;      // of the IPv4 suffix and the PSID: at least ipv4.suffix_bits()
  unsigned psid_offset = 6;  // bits of a port before the PSID

  [[nodiscard]] unsigned psid_bits() const { return ea_bits - ipv4.suffix_bits(); }

  // Returns the customer's address (RFC 7597, 5.2 and 6). Absent if the IPv4 address is not of the
  // rule, or if no customer has the port.
  [[nodiscard]] std::optional<IpAddress> to_ipv6(const IpAddress& address, Port port) const;
  // Returns the IPv4 address that the EA bits name. Absent if no rule makes the IPv6 address for
  // this port.
  [[nodiscard]] std::optional<IpAddress> to_ipv4(const IpAddress& address, Port port) const;

 private:
  [[nodiscard]] std::optional<std::uint32_t> psid_of(Port port) const;
};

// Return the ports of UDP and TCP; absent in other packets, and in fragments but the first.
[[nodiscard]] Port source_port(const Ipv4Packet& packet);
[[nodiscard]] Port source_port(const Ipv6Packet& packet);
[[nodiscard]] Port destination_port(const Ipv4Packet& packet);
[[nodiscard]] Port destination_port(const Ipv6Packet& packet);

}  // namespace natxy::gateway
