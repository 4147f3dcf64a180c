// Routes a packet: translates it if necessary, decrements its hop limit, and finds its next hop.
#pragma once

#include <optional>
#include <vector>

#include "gateway/config.hpp"
#include "gateway/frame.hpp"
#include "gateway/packet.hpp"
#include "gateway/translator.hpp"

namespace natxy::gateway {

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
