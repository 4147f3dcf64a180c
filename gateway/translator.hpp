// Stateless translation between IPv4 and IPv6 (RFC 7915) of UDP, TCP and ICMP echo; data of other
// transport protocols is carried unchanged.
#pragma once

#include <cstdint>

#include "gateway/address_map.hpp"
#include "gateway/frame_store.hpp"
#include "gateway/outcome.hpp"
#include "gateway/packet.hpp"

namespace natxy::gateway {

// What a packet's addresses become.
struct AddressPair {
  IpAddress source;
  IpAddress destination;
};

class Translator {
 public:
  explicit Translator(AddressMap map) : map_(std::move(map)) {}

  [[nodiscard]] const AddressMap& map() const { return map_; }

  // The frames have their type and packet, with the hop limit lowered by 1; no MAC addresses yet.
  // A packet whose hop limit may not be lowered must not come here.
  [[nodiscard]] Outcome to_ipv6(const Ipv4Packet& packet, FrameStore& store) const;
  [[nodiscard]] Outcome to_ipv4(const Ipv6Packet& packet, FrameStore& store);
  // Into these addresses, whatever the map says.
  [[nodiscard]] static Outcome to_ipv6(const Ipv4Packet& packet, const AddressPair& addresses,
                                       FrameStore& store);
  [[nodiscard]] Outcome to_ipv4(const Ipv6Packet& packet, const AddressPair& addresses,
                                FrameStore& store);

 private:
  AddressMap map_;
  std::uint16_t next_identification_ = 0;  // RFC 7915, 5.1: of packets without Fragment Header
};

}  // namespace natxy::gateway
