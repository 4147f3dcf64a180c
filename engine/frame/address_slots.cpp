#include "frame/address_slots.hpp"

#include <algorithm>

namespace natxy::frame {
namespace {

// Returns whether the field has 16 bits that begin with an octet.
bool is_plain(const std::vector<spec::FieldBits>& field) {
  return field.size() == 1 && field[0].value_bit == 0 && field[0].bits == 16 &&
         field[0].address_bit % 8 == 0;
}

}  // namespace

AddressSlots::Slot AddressSlots::slot(std::size_t offset_in_address, std::size_t base) {
  return {.at = static_cast<std::uint16_t>(base + offset_in_address),
          .shift = static_cast<std::uint8_t>(offset_in_address % 2 * 8)};
}

AddressSlots::AddressSlots(const spec::PacketFormat& format, std::uint16_t networks,
                           std::uint16_t base)
    : AddressSlots(Ends{format.source, format.destination, format.ip_version}, networks, base) {}

AddressSlots::AddressSlots(const spec::Tunnel& tunnel, std::uint16_t networks, std::uint16_t base)
    : AddressSlots(Ends{tunnel.source, tunnel.destination, tunnel.ip_version}, networks, base) {}

AddressSlots::AddressSlots(const Ends& ends, std::uint16_t networks, std::uint16_t source) {
  const auto& [from, to, version] = ends;
  const auto destination = static_cast<std::uint16_t>(source + spec::address_octets(version));
  source_field_ = place(from.field, source);
  sources_end_ = pieces_end_;
  destination_field_ = place(to.field, destination);
  if (networks <= 1) return;
  if (from.network_byte) networks_[0] = slot(*from.network_byte, source);
  if (to.network_byte) networks_[1] = slot(*to.network_byte, destination);
}

AddressSlots::Slot AddressSlots::place(const Field& field, std::uint16_t base) {
  if (is_plain(field)) return slot(field[0].address_bit / 8U, base);
  for (const auto& bits : field) add_pieces(bits, base);
  return {};
}

// Goes through the words from the last bit to the first one.
void AddressSlots::add_pieces(const spec::FieldBits& place, std::uint16_t base) {
  unsigned value_bit = place.value_bit;
  unsigned end = place.address_bit + place.bits;
  while (end > place.address_bit) {
    const auto word = (end - 1) / 16;
    const auto first = std::max(word * 16, unsigned{place.address_bit});
    const auto bits = end - first;
    pieces_[pieces_end_++] = {.at = static_cast<std::uint16_t>(base + 2 * word),
                              .mask = static_cast<std::uint16_t>((1U << bits) - 1),
                              .value_bit = static_cast<std::uint8_t>(value_bit),
                              .shift = static_cast<std::uint8_t>(word * 16 + 16 - end)};
    value_bit += bits;
    end = first;
  }
}

std::uint32_t AddressSlots::read_pieces(const std::uint8_t* from, std::uint16_t base,
                                        std::span<const Piece> pieces) {
  std::uint32_t value = 0;
  for (const auto& piece : pieces) {
    const std::uint32_t word = swap16(load<std::uint16_t>(from + piece.at - base));
    value |= (word >> piece.shift & piece.mask) << piece.value_bit;
  }
  return value;
}

flow::Values AddressSlots::read(const std::uint8_t* from, std::uint16_t base) const {
  const auto field = [&](Slot slot) {
    return slot.at == 0 ? std::uint16_t{0} : swap16(load<std::uint16_t>(from + slot.at - base));
  };
  const std::span pieces(pieces_);
  const auto sources = pieces.first(sources_end_);
  const auto destinations = pieces.first(pieces_end_).subspan(sources_end_);
  return {.source_port = 0,
          .destination_port = 0,
          .source_field = field(source_field_) | read_pieces(from, base, sources),
          .destination_field = field(destination_field_) | read_pieces(from, base, destinations),
          .network = 0};
}

}  // namespace natxy::frame
