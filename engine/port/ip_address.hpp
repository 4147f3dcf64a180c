// An IP address of either version, and sets of addresses.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "spec/trial_spec.hpp"

namespace natxy::port {

using Mac = std::array<std::uint8_t, 6>;

struct IpAddress {
  spec::IpVersion version = spec::IpVersion::k4;
  std::array<std::uint8_t, 16> octets{};  // network order; IPv4 uses the first 4, the rest is 0

  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;
};

[[nodiscard]] std::string to_text(const IpAddress& address);
[[nodiscard]] std::string to_text(const Mac& mac);

// Parses an address, which the reader of the spec has already accepted.
[[nodiscard]] IpAddress parse_address(const std::string& text);

// A set of addresses with varying bits: those that the tester answers for.
class AddressSet {
 public:
  // Adds all addresses of a pattern; its network octet and the bits of its field may have any
  // value.
  void add(spec::IpVersion version, const spec::AddressPattern& pattern);
  void add(const IpAddress& address);
  [[nodiscard]] bool contains(const IpAddress& address) const;

 private:
  struct Masked {
    IpAddress value;
    std::array<std::uint8_t, 16> mask;  // 1 where the bits must agree
    friend bool operator==(const Masked&, const Masked&) = default;
  };
  void insert(const Masked& masked);

  std::vector<Masked> members_;
};

}  // namespace natxy::port
