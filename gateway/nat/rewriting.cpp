#include "gateway/nat/rewriting.hpp"

#include <algorithm>

#include "gateway/checksum.hpp"

namespace natxy::gateway {
namespace {

constexpr std::size_t kUdpChecksum = 6;

// Updates the UDP checksum. 0 means "no checksum" (RFC 768) and stays 0.
void follow_udp(std::uint8_t* udp, std::uint64_t removed, std::uint64_t added) {
  auto* at = udp + kUdpChecksum;
  if (read16(at) != 0) write16(at, udp_form(follow(read16(at), removed, added)));
}

void write_ports(std::uint8_t* udp, const PortPair& ports) {
  const auto before = sum_of({udp, 4});
  write16(udp, ports.source);
  write16(udp + 2, ports.destination);
  follow_udp(udp, before, sum_of({udp, 4}));
}

}  // namespace

PortPair read_ports(Octets udp) {
  return {.source = read16(udp.data()), .destination = read16(udp.data() + 2)};
}

FramePtr rewrite(const Ipv4Packet& packet, const AddressPair& addresses, const PortPair& ports,
                 FrameStore& store) {
  auto frame = store.take(kEthernetOctets + packet.octets.size());
  auto* ip = frame->octets + kEthernetOctets;
  write16(ip - 2, kTypeIpv4);
  std::ranges::copy(packet.octets, ip);
  const auto removed = sum_of(packet.source) + sum_of(packet.destination);
  const auto added = sum_of(addresses.source) + sum_of(addresses.destination);
  const auto hops = read16(ip + 8);
  --ip[8];
  addresses.source.write(ip + 12);
  addresses.destination.write(ip + 16);
  write16(ip + 10, follow(read16(ip + 10), removed + hops, added + read16(ip + 8)));
  auto* udp = ip + packet.header_octets;
  follow_udp(udp, removed, added);
  write_ports(udp, ports);
  return frame;
}

void rewrite_ports(Frame& frame, const PortPair& ports) {
  auto* ip = frame.octets + kEthernetOctets;
  write_ports(ip + (read16(ip - 2) == kTypeIpv4 ? kIpv4Octets : kIpv6Octets), ports);
}

}  // namespace natxy::gateway
