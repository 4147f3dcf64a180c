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

}  // namespace natxy::gateway
