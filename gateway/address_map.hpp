// Maps between IPv4 and IPv6 addresses: by explicit mappings first (RFC 7757), then by the rules of
// MAP (RFC 7599), then by a prefix (RFC 6052).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gateway/address.hpp"
#include "gateway/packet.hpp"

namespace natxy::gateway {

// A Mapping Rule of MAP (RFC 7597, 5): which IPv6 address a customer has, from its IPv4 address and
// port. The binding table of a lwAFTR (RFC 7596) that follows a rule is one too.
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

struct ExplicitMapping {
  Prefix ipv4;
  Prefix ipv6;  // has at least as many suffix bits as the IPv4 prefix
};

struct AddressMap {
  std::vector<ExplicitMapping> mappings{};
  std::vector<MappingRule> rules{};
  std::optional<Prefix> prefix{};

  // Returns whether there is a mapping or a rule for the address.
  [[nodiscard]] bool is_explicit(const IpAddress& ipv4) const;
  // Returns the rule that gives the address to its subscribers; null if there is none.
  [[nodiscard]] const MappingRule* rule_of(const IpAddress& address) const;
  // port: of the packet at this address; only rules need it.
  [[nodiscard]] std::optional<IpAddress> to_ipv6(const IpAddress& ipv4, Port port = {}) const;
  [[nodiscard]] std::optional<IpAddress> to_ipv4(const IpAddress& ipv6, Port port = {}) const;
};

// Embed an IPv4 address in an IPv6 address, and extract it (RFC 6052, 2.2): it follows the prefix,
// and bits 64 to 71 are left out.
[[nodiscard]] IpAddress embed(const Prefix& prefix, const IpAddress& ipv4);
[[nodiscard]] IpAddress extract(const Prefix& prefix, const IpAddress& ipv6);

}  // namespace natxy::gateway
