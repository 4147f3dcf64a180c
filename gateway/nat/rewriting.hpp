// Rewrites the addresses and ports of a UDP or TCP packet, decrements its hop limit and updates its
// checksums.
#pragma once

#include <cstdint>

#include "gateway/frame_store.hpp"
#include "gateway/octets.hpp"
#include "gateway/packet.hpp"
#include "gateway/translator.hpp"

namespace natxy::gateway {

struct PortPair {
  std::uint16_t source = 0;
  std::uint16_t destination = 0;
};

// upper: from the header of UDP or TCP on.
[[nodiscard]] PortPair read_ports(Octets upper);

// Returns a frame with EtherType and packet, without MAC addresses.
[[nodiscard]] FramePtr rewrite(const Ipv4Packet& packet, const AddressPair& addresses,
                               const PortPair& ports, FrameStore& store);
// Rewrites the ports of a frame that the gateway has made: IPv4 without options, or IPv6 without
// extension headers.
void rewrite_ports(Frame& frame, const PortPair& ports);

}  // namespace natxy::gateway
