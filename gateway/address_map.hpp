// Maps between IPv4 and IPv6 addresses: by explicit mappings first (RFC 7757), then by a prefix
// (RFC 6052).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gateway/address.hpp"

namespace natxy::gateway {

struct ExplicitMapping {
  Prefix ipv4;
  Prefix ipv6;  // has at least as many suffix bits as the IPv4 prefix
};

class AddressMap {
 public:
  AddressMap(std::vector<ExplicitMapping> mappings, std::optional<Prefix> prefix)
      : mappings_(std::move(mappings)), prefix_(prefix) {}

  [[nodiscard]] bool is_explicit(const IpAddress& ipv4) const;
  [[nodiscard]] std::optional<IpAddress> to_ipv6(const IpAddress& ipv4) const;
  [[nodiscard]] std::optional<IpAddress> to_ipv4(const IpAddress& ipv6) const;

 private:
  std::vector<ExplicitMapping> mappings_;
  std::optional<Prefix> prefix_;
};

// Embed an IPv4 address in an IPv6 address, and extract it (RFC 6052, 2.2): it follows the prefix,
// and bits 64 to 71 are left out.
[[nodiscard]] IpAddress embed(const Prefix& prefix, const IpAddress& ipv4);
[[nodiscard]] IpAddress extract(const Prefix& prefix, const IpAddress& ipv6);

}  // namespace natxy::gateway
