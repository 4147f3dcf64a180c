// The VLAN tags of a port (IEEE 802.1Q). Behind the port, the gateway sees frames without tags.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gateway/octets.hpp"

namespace natxy::gateway {

struct VlanTag {
  std::uint16_t type = 0x8100;  // 88a8: the outer of two tags
  std::uint16_t id = 1;
  friend bool operator==(const VlanTag&, const VlanTag&) = default;
};
using VlanTags = std::vector<VlanTag>;  // outer tag first

inline constexpr std::size_t kVlanTagOctets = 4;
inline constexpr std::size_t kMaxVlanTags = 2;

// Removes the tags from a frame. Absent if the frame is of another VLAN. A frame that had tags is
// copied to `scratch`.
[[nodiscard]] std::optional<Octets> without_tags(Octets frame, const VlanTags& tags,
                                                 std::vector<std::uint8_t>& scratch);

// Writes the frame with the tags to `to`, which has room for both. Returns the number of octets.
std::size_t write_with_tags(std::uint8_t* to, Octets frame, const VlanTags& tags);

}  // namespace natxy::gateway
