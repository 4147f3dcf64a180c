#include "gateway/router.hpp"

#include <algorithm>

#include "gateway/packet.hpp"

namespace natxy::gateway {
namespace {

FramePtr copy_packet(Octets packet, std::uint16_t type, FrameStore& store) {
  auto frame = store.take(kEthernetOctets + packet.size());
  write16(frame->octets + kEthernetOctets - 2, type);
  std::ranges::copy(packet, frame->octets + kEthernetOctets);
  return frame;
}

FramePtr forward(const Ipv4Packet& packet, FrameStore& store) {
  auto frame = copy_packet(packet.octets, kTypeIpv4, store);
  auto* ip = frame->octets + kEthernetOctets;
  const auto before = read16(ip + 8);
  --ip[8];
  write16(ip + 10, follow(read16(ip + 10), before, read16(ip + 8)));
  return frame;
}

FramePtr forward(const Ipv6Packet& packet, FrameStore& store) {
  auto frame = copy_packet(packet.octets, kTypeIpv6, store);
  --frame->octets[kEthernetOctets + 7];
  return frame;
}

}  // namespace

Router::Router(const Config& config)
    : routes_(config.routes), translator_(config.translation.value_or(AddressMap{})) {}

const Route* Router::find(const IpAddress& destination) const {
  return find_longest(routes_, &Route::prefix, destination);
}

std::optional<Hop> Router::hop(Side from, const IpAddress& destination) const {
  const auto* found = find(destination);
  if (found == nullptr || found->side == from) return std::nullopt;
  return Hop{.side = found->side, .neighbour = found->via.value_or(destination)};
}

// Returns the destination after translation; absent if the packet is not translated. A destination
// with a mapping or a rule is translated. The prefix, which applies to all IPv4 addresses, is used
// only if there is no route to the IPv4 address itself.
std::optional<IpAddress> Router::translated_destination(const Ipv4Packet& packet) const {
  const auto& map = translator_.map();
  if (!map.is_explicit(packet.destination) && find(packet.destination) != nullptr) {
    return std::nullopt;
  }
  return map.to_ipv6(packet.destination, destination_port(packet));
}

std::optional<IpAddress> Router::translated_destination(const Ipv6Packet& packet) const {
  return translator_.map().to_ipv4(packet.destination, destination_port(packet));
}

template <typename Packet>
Routed Router::route_any(Side from, const Packet& packet, FrameStore& store) {
  const auto translated = translated_destination(packet);
  const auto destination = translated.value_or(packet.destination);
  const auto found = hop(from, destination);
  if (!found) return Routed::drops(Drop::kNoRoute);
  if (hop_limit_of(packet) <= 1) return Routed::drops(Drop::kHopLimit);
  return {
      .outcome = translated ? translate(packet, store) : Outcome::passes(forward(packet, store)),
      .hop = *found};
}

Routed Router::route(Side from, const Ipv4Packet& packet, FrameStore& store) {
  return route_any(from, packet, store);
}

Routed Router::route(Side from, const Ipv6Packet& packet, FrameStore& store) {
  return route_any(from, packet, store);
}

}  // namespace natxy::gateway
