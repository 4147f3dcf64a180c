// The gateway as the end of softwires: IPv4 packets in IPv6 packets (RFC 2473), as an AFTR
// (RFC 6333), a lwAFTR (RFC 7596) or a MAP-E border relay (RFC 7597) has them on its inner side.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "gateway/address_map.hpp"
#include "gateway/config.hpp"
#include "gateway/frame.hpp"
#include "gateway/packet.hpp"

namespace natxy::gateway {

class Softwires {
 public:
  explicit Softwires(SoftwireConfig config) : config_(std::move(config)) {}

  [[nodiscard]] Side inside() const { return config_.inside; }

  // Returns whether this is the end of a subscriber whose inner addresses others may have too, so
  // that the stateful translation must tell softwires apart (RFC 6333, 6.6).
  [[nodiscard]] bool tells_apart(const IpAddress& end) const {
    return config_.subscribers && config_.subscribers->contains(end);
  }

  // Returns whether the packet is the outer packet of a softwire.
  [[nodiscard]] bool takes(Side side, const Ipv6Packet& packet) const {
    return side == config_.inside && packet.destination == config_.address &&
           packet.next_header == kIpv4InIpv6;
  }

  // Returns the subscriber's end of the softwire of an inner address and port; absent if there is
  // none.
  [[nodiscard]] std::optional<IpAddress> far_end(const IpAddress& inner, Port port) const {
    return config_.map.to_ipv6(inner, port);
  }
  // Does the same for the destination of the IPv4 packet of a frame.
  [[nodiscard]] std::optional<IpAddress> far_end(const Frame& frame) const;
  // Puts the IPv4 packet of a frame, whose TTL has been decremented, into a packet to this end.
  [[nodiscard]] FramePtr encapsulate(const Frame& frame, const IpAddress& end,
                                     FrameStore& store) const;

 private:
  static constexpr std::uint8_t kHopLimit = 64;

  SoftwireConfig config_;
};

// Finds another subscriber than the one to whom a frame belongs: the faults `port_set` and
// `softwire` take one for the other.
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
