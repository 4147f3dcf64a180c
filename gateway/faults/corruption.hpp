// Changes one field of a frame on purpose.
#pragma once

#include <cstddef>

#include "gateway/config.hpp"
#include "gateway/frame_store.hpp"

namespace natxy::gateway {

// Inverts the lowest bit of the field's last octet, or a bit of the traffic class.
// `no_udp_checksum` sets the UDP checksum to 0; `length` makes the packet one octet longer, or one
// shorter if it has max_packet_octets; `vlan` marks the frame for its port. With fix_checksum, the
// checksums are updated. Returns false, without a change, if the frame has no such field.
[[nodiscard]] bool corrupt(Frame& frame, CorruptField field, bool fix_checksum,
                           std::size_t max_packet_octets);

}  // namespace natxy::gateway
