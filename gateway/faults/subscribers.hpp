// Finds another subscriber than the one to whom a frame belongs: the faults `port_set` and
// `softwire` take one for the other.
#pragma once

#include <cstdint>
#include <optional>

#include "gateway/address_map.hpp"
#include "gateway/config.hpp"

namespace natxy::gateway {

class Subscribers {
 public:
  Subscribers() = default;  // there are none
  explicit Subscribers(const Config& config);

  // Returns the port of another subscriber that shares the address (RFC 7597, 5.1); absent if the
  // address has no port sets.
  [[nodiscard]] std::optional<std::uint16_t> other_port(const IpAddress& address,
                                                        std::uint16_t port) const;
  // Returns the end of another subscriber's softwire. end: that of the one who has this inner
  // address and port.
  [[nodiscard]] IpAddress other_end(const IpAddress& end, const IpAddress& inner, Port port) const;

 private:
  AddressMap map_;
};

}  // namespace natxy::gateway
