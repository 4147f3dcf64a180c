#include "frame/address_slots.hpp"

namespace natxy::frame {

AddressSlots::Slot AddressSlots::slot(std::size_t offset_in_address, std::size_t base) {
  return {.at = static_cast<std::uint16_t>(base + offset_in_address),
          .shift = static_cast<std::uint8_t>(offset_in_address % 2 * 8)};
}

AddressSlots::AddressSlots(const spec::AddressPair& pair, std::uint16_t networks,
                           std::uint16_t base) {
  const auto destination = base + layout_of(pair.ip_version).address_octets;
  const auto& from = pair.source;
  const auto& to = pair.destination;
  if (from.field_byte) source_field_ = slot(*from.field_byte, base);
  if (to.field_byte) destination_field_ = slot(*to.field_byte, destination);
  if (networks <= 1) return;
  if (from.network_byte) networks_[0] = slot(*from.network_byte, base);
  if (to.network_byte) networks_[1] = slot(*to.network_byte, destination);
}

}  // namespace natxy::frame
