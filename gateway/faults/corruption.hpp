// Changes one field of a frame on purpose.
#pragma once

#include <cstddef>

#include "gateway/config.hpp"
#include "gateway/frame_store.hpp"

namespace natxy::gateway {

// False where the frame has no such field; it is then left as it is. The lowest bit of the field's
// last octet is turned over; `no_udp_checksum` makes the checksum 0; `length` makes the packet an
// octet longer, or an octet shorter where it has max_packet_octets. With fix_checksum the checksums
// are made to follow.
[[nodiscard]] bool corrupt(Frame& frame, CorruptField field, bool fix_checksum,
                           std::size_t max_packet_octets);

}  // namespace natxy::gateway
