#include "spec/encapsulation.hpp"

namespace natxy::spec {

const std::vector<Encapsulation>& encapsulations() {
  static const std::vector<Encapsulation> all = {
      // RFC 2003 (IPv4 in IPv4), RFC 4213 (IPv6 in IPv4), RFC 2473 (both in IPv6)
      {.name = "ip", .ipv4 = {.protocol = 4}, .ipv6 = {.protocol = 41}},
  };
  return all;
}

}  // namespace natxy::spec
