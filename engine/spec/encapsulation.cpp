#include "spec/encapsulation.hpp"

namespace natxy::spec {

const std::vector<Encapsulation>& encapsulations() {
  static const std::vector<Encapsulation> all = {
      // RFC 2003 (IPv4 in IPv4), RFC 4213 (IPv6 in IPv4), RFC 2473 (both in IPv6)
      {.name = "ip", .ipv4 = {.protocol = 4}, .ipv6 = {.protocol = 41}},
      // RFC 2784, without a checksum; RFC 7676 for IPv6. The last two octets are the EtherType.
      {.name = "gre",
       .ipv4 = {.protocol = 47, .octets = {0, 0, 0x08, 0x00}},
       .ipv6 = {.protocol = 47, .octets = {0, 0, 0x86, 0xdd}}},
  };
  return all;
}

}  // namespace natxy::spec
