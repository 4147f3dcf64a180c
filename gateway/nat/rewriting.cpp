#include "gateway/nat/rewriting.hpp"

#include <algorithm>

#include "gateway/checksum.hpp"

namespace natxy::gateway {
namespace {

constexpr std::size_t kUdpChecksum = 6;
constexpr std::size_t kTcpChecksum = 16;

// Updates the checksum of UDP or TCP. In UDP, 0 means "no checksum" (RFC 768) and stays 0.
void follow_upper(std::uint8_t* upper, std::uint8_t protocol, std::uint64_t removed,
                  std::uint64_t added) {
  if (protocol == kTcp) {
    auto* at = upper + kTcpChecksum;
    return write16(at, follow(read16(at), removed, added));
  }
  auto* at = upper + kUdpChecksum;
  if (read16(at) != 0) write16(at, udp_form(follow(read16(at), removed, added)));
}

void write_ports(std::uint8_t* upper, std::uint8_t protocol, const PortPair& ports) {
  const auto before = sum_of({upper, 4});
  write16(upper, ports.source);
  write16(upper + 2, ports.destination);
  follow_upper(upper, protocol, before, sum_of({upper, 4}));
}

}  // namespace

PortPair read_ports(Octets upper) {
  return {.source = read16(upper.data()), .destination = read16(upper.data() + 2)};
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
  auto* upper = ip + packet.header_octets;
  follow_upper(upper, packet.protocol, removed, added);
  write_ports(upper, packet.protocol, ports);
  return frame;
}

void rewrite_ports(Frame& frame, const PortPair& ports) {
  auto* ip = frame.octets + kEthernetOctets;
  const bool ipv4 = read16(ip - 2) == kTypeIpv4;
  write_ports(ip + (ipv4 ? kIpv4Octets : kIpv6Octets), ip[ipv4 ? 9 : 6], ports);
}

}  // namespace natxy::gateway
