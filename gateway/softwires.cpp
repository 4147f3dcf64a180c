#include "gateway/softwires.hpp"

#include <algorithm>

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
    if (const auto found = map_.to_ipv6(inner, other)) return *found;
  }
  const auto beside = IpAddress::ipv4(static_cast<std::uint32_t>(inner.value) ^ 1U);
  if (const auto found = map_.to_ipv6(beside, port)) return *found;
  return IpAddress::ipv6(end.value ^ Uint128{1} << kInterfaceBits);
}

}  // namespace natxy::gateway
