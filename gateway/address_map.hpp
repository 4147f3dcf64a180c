// Maps between IPv4 and IPv6 addresses: by explicit mappings first (RFC 7757), then by the rules of
// MAP (RFC 7599), then by a prefix (RFC 6052).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gateway/address.hpp"
#include "gateway/mapping_rule.hpp"

namespace natxy::gateway {

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
