// Reads the link layer of arriving frames, whose layout is not known yet.
#pragma once

#include <cstddef>
#include <cstdint>

#include "frame/checksum.hpp"
#include "frame/layout.hpp"

namespace natxy::frame {

// Reads a big-endian 16-bit word.
[[nodiscard]] inline std::uint16_t read16(const std::uint8_t* from) {
  return swap16(load<std::uint16_t>(from));
}

// Returns where the EtherType is that follows the VLAN tags; 12 if there are none.
[[nodiscard]] inline std::size_t ether_type_at(const std::uint8_t* frame, std::uint32_t size) {
  std::size_t at = 12;
  for (std::size_t tags = 0; tags < spec::kMaxVlanTags && at + kVlanTagOctets + 2 <= size; ++tags) {
    const auto type = read16(frame + at);
    if (type != 0x8100 && type != 0x88a8) break;
    at += kVlanTagOctets;
  }
  return at;
}

// Returns whether the frame is for the neighbour responder: ARP, or an ICMPv6 Neighbour
// Solicitation or Advertisement.
[[nodiscard]] inline bool concerns_neighbours(const std::uint8_t* frame, std::uint32_t size) {
  if (size < 42) return false;
  const auto at = ether_type_at(frame, size);
  const auto type = read16(frame + at);
  if (type == 0x0806) return true;
  return type == 0x86dd && size >= at + 66 && frame[at + 8] == 58 &&
         (frame[at + 42] == 135 || frame[at + 42] == 136);
}

}  // namespace natxy::frame
