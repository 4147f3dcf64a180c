// The gateway as the end of softwires: IPv4 packets in IPv6 packets (RFC 2473), as an AFTR
// (RFC 6333), a lwAFTR (RFC 7596) or a MAP-E border relay (RFC 7597) has them on its inner side.
#pragma once

#include <cstdint>
#include <optional>

#include "gateway/address_map.hpp"
#include "gateway/config.hpp"
#include "gateway/frame_store.hpp"
#include "gateway/packet.hpp"
#include "gateway/side.hpp"

namespace natxy::gateway {

class Softwires {
 public:
  explicit Softwires(const SoftwireConfig& config)
      : inside_(config.inside),
        own_(config.address),
        subscribers_(config.subscribers),
        map_(config.mappings, config.rules, std::nullopt) {}

  [[nodiscard]] Side inside() const { return inside_; }

  // Returns whether this is the end of a subscriber whose inner addresses others may have too, so
  // that the stateful translation must tell softwires apart (RFC 6333, 6.6).
  [[nodiscard]] bool tells_apart(const IpAddress& end) const {
    return subscribers_ && subscribers_->contains(end);
  }

  // Returns whether the packet is the outer packet of a softwire.
  [[nodiscard]] bool takes(Side side, const Ipv6Packet& packet) const {
    return side == inside_ && packet.destination == own_ && packet.next_header == kIpv4InIpv6;
  }

  // Returns the subscriber's end of the softwire of an inner address and port; absent if there is
  // none.
  [[nodiscard]] std::optional<IpAddress> far_end(const IpAddress& inner, Port port) const {
    return map_.to_ipv6(inner, port);
  }
  // Does the same for the destination of the IPv4 packet of a frame.
  [[nodiscard]] std::optional<IpAddress> far_end(const Frame& frame) const;
  // Puts the IPv4 packet of a frame, whose TTL has been decremented, into a packet to this end.
  [[nodiscard]] FramePtr encapsulate(const Frame& frame, const IpAddress& end,
                                     FrameStore& store) const;

 private:
  static constexpr std::uint8_t kHopLimit = 64;

  Side inside_;
  IpAddress own_;
  std::optional<Prefix> subscribers_;
  AddressMap map_;
};

}  // namespace natxy::gateway
