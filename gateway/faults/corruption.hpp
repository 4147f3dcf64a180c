// Changes one field of a frame on purpose.
#pragma once

#include <cstddef>

#include "gateway/config.hpp"
#include "gateway/frame.hpp"
#include "gateway/softwires.hpp"

namespace natxy::gateway {

// What a fault needs to know of the gateway.
struct CorruptionSetting {
  const Subscribers& subscribers;
  std::size_t max_packet_octets;  // of the link
};

// Changes the field as docs/reference/gateway.md says for its name: most often, the lowest bit of
// its last octet. With order.fix_checksum, the checksums are updated. Returns false, without a
// change, if the frame has no such field, or if the packet would become too long.
[[nodiscard]] bool corrupt(Frame& frame, const Corrupt& order, const CorruptionSetting& setting);

}  // namespace natxy::gateway
