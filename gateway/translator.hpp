// Translates UDP, TCP and ICMP echo between IPv4 and IPv6 without state (RFC 7915). The data of
// other transport protocols is not changed.
#pragma once

#include <cstdint>

#include "gateway/address_map.hpp"
#include "gateway/frame.hpp"
#include "gateway/packet.hpp"

namespace natxy::gateway {

// The addresses of a packet after translation.
struct AddressPair {
  IpAddress source;
  IpAddress destination;
};

class Translator {
 public:
  explicit Translator(AddressMap map) : map_(std::move(map)) {}

  [[nodiscard]] const AddressMap& map() const { return map_; }

  // Translate a packet into a frame with EtherType and packet, but without MAC addresses. The hop
  // limit is decremented, so the packet's must be above 1.
  [[nodiscard]] Outcome to_ipv6(const Ipv4Packet& packet, FrameStore& store) const;
  [[nodiscard]] Outcome to_ipv4(const Ipv6Packet& packet, FrameStore& store);
  // Translate to these addresses instead of those of the map.
  [[nodiscard]] static Outcome to_ipv6(const Ipv4Packet& packet, const AddressPair& addresses,
                                       FrameStore& store);
  [[nodiscard]] Outcome to_ipv4(const Ipv6Packet& packet, const AddressPair& addresses,
                                FrameStore& store);

 private:
  AddressMap map_;
  std::uint16_t next_identification_ = 0;  // for packets without Fragment Header (RFC 7915, 5.1)
};

}  // namespace natxy::gateway
