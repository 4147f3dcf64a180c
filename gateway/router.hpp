// Routes a packet: translates it or takes it through a softwire if necessary, decrements its hop
// limit, and finds its next hop.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "gateway/address_map.hpp"
#include "gateway/config.hpp"
#include "gateway/frame.hpp"
#include "gateway/packet.hpp"
#include "gateway/translator.hpp"

namespace natxy::gateway {

// The gateway as the end of softwires: IPv4 packets in IPv6 packets (RFC 2473), as an AFTR
// (RFC 6333), a lwAFTR (RFC 7596) or a MAP-E border relay (RFC 7597) has them on its inner side.
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

struct Hop {
  Side side;
  IpAddress neighbour;
};

struct Routed {
  Outcome outcome;
  Hop hop;                              // undefined if the frame was dropped
  std::optional<IpAddress> softwire{};  // the far end of the softwire that it enters, if known

  [[nodiscard]] static Routed drops(Drop reason) {
    return {.outcome = Outcome::drops(reason), .hop = {}};
  }
};

class Router {
 public:
  explicit Router(const Config& config);

  // Returns the next hop of a packet from this side; absent if there is no route to the other side.
  [[nodiscard]] std::optional<Hop> hop(Side from, const IpAddress& destination) const;

  // Makes a frame for the other side, without MAC addresses, from a packet from this side.
  [[nodiscard]] Routed route(Side from, const Ipv4Packet& packet, FrameStore& store);
  [[nodiscard]] Routed route(Side from, const Ipv6Packet& packet, FrameStore& store);

 private:
  [[nodiscard]] const Route* find(const IpAddress& destination) const;
  [[nodiscard]] std::optional<IpAddress> translated_destination(const Ipv4Packet& packet) const;
  [[nodiscard]] std::optional<IpAddress> translated_destination(const Ipv6Packet& packet) const;
  template <typename Packet>
  [[nodiscard]] Routed route_any(Side from, const Packet& packet, FrameStore& store);
  [[nodiscard]] Outcome translate(const Ipv4Packet& packet, FrameStore& store) {
    return translator_.to_ipv6(packet, store);
  }
  [[nodiscard]] Outcome translate(const Ipv6Packet& packet, FrameStore& store) {
    return translator_.to_ipv4(packet, store);
  }

  std::vector<Route> routes_;
  Translator translator_;  // maps no address if the configuration has no translation
};

}  // namespace natxy::gateway
