#include "gateway/router.hpp"

#include <algorithm>

#include "gateway/packet.hpp"

namespace natxy::gateway {

std::optional<IpAddress> Softwires::far_end(const Frame& frame) const {
  const auto inner = parse_ipv4(frame.view().subspan(kEthernetOctets));
  if (!inner) return std::nullopt;
  return far_end(inner->destination, destination_port(*inner));
}

FramePtr Softwires::encapsulate(const Frame& frame, const IpAddress& end, FrameStore& store) const {
  const auto inner = frame.view().subspan(kEthernetOctets);
  auto outer = store.take(kEthernetOctets + kIpv6Octets + inner.size());
  auto* ip = outer->octets + kEthernetOctets;
  write16(ip - 2, kTypeIpv6);
  write32(ip, 6U << 28U);
  write16(ip + 4, static_cast<std::uint32_t>(inner.size()));
  ip[6] = kIpv4InIpv6;
  ip[7] = kHopLimit;
  config_.address.write(ip + 8);
  end.write(ip + 24);
  std::ranges::copy(inner, ip + kIpv6Octets);
  return outer;
}

namespace {

constexpr unsigned kPortBits = 16;
constexpr unsigned kInterfaceBits = 64;  // of an IPv6 address, after the subscriber's subnet

}  // namespace

Subscribers::Subscribers(const Config& config) {
  if (config.softwires) {
    map_ = config.softwires->map;
  } else if (config.translation) {
    map_ = *config.translation;
  }
  map_.prefix.reset();
}

std::optional<std::uint16_t> Subscribers::other_port(const IpAddress& address,
                                                     std::uint16_t port) const {
  const auto* rule = map_.rule_of(address);
  if (rule == nullptr || rule->psid_bits() == 0) return std::nullopt;
  const auto after_psid = kPortBits - rule->psid_offset - rule->psid_bits();
  return static_cast<std::uint16_t>(port ^ 1U << after_psid);
}

// Tries another subscriber with the same address, then the one with the next address. Where only
// the stateful translation knows the subscribers, their subnets differ.
IpAddress Subscribers::other_end(const IpAddress& end, const IpAddress& inner, Port port) const {
  if (const auto other = port ? other_port(inner, *port) : std::nullopt) {
    if (const auto other_address = map_.to_ipv6(inner, other)) return *other_address;
  }
  const auto beside = IpAddress::ipv4(static_cast<std::uint32_t>(inner.value) ^ 1U);
  if (const auto other_address = map_.to_ipv6(beside, port)) return *other_address;
  return IpAddress::ipv6(end.value ^ Uint128{1} << kInterfaceBits);
}

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
  const auto* route = find(destination);
  if (route == nullptr || route->side == from) return std::nullopt;
  return Hop{.side = route->side, .neighbour = route->via.value_or(destination)};
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
  const auto next_hop = hop(from, destination);
  if (!next_hop) return Routed::drops(Drop::kNoRoute);
  if (hop_limit_of(packet) <= 1) return Routed::drops(Drop::kHopLimit);
  return {
      .outcome = translated ? translate(packet, store) : Outcome::passes(forward(packet, store)),
      .hop = *next_hop};
}

Routed Router::route(Side from, const Ipv4Packet& packet, FrameStore& store) {
  return route_any(from, packet, store);
}

Routed Router::route(Side from, const Ipv6Packet& packet, FrameStore& store) {
  return route_any(from, packet, store);
}

}  // namespace natxy::gateway
