// A set of addresses with varying bits: those that the tester answers for.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "port/ip_address.hpp"

namespace natxy::port {

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
