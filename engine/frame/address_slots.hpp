// The positions of the varying parts of an address pair: at most a network octet and a 16-bit field
// in each address, in any combination, at any offset.
#pragma once

#include <array>
#include <cstdint>

#include "flow/flow.hpp"
#include "frame/checksum.hpp"
#include "frame/layout.hpp"

namespace natxy::frame {

class AddressSlots {
 public:
  AddressSlots() = default;
  // base: offset of the source address in the buffer of write(); the destination address follows
  // it.
  AddressSlots(const spec::AddressPair& pair, std::uint16_t networks, std::uint16_t base);

  // Writes the values. Returns their contribution to a sum of 16-bit words.
  std::uint64_t write(std::uint8_t* to, const flow::Values& values) const {
    std::uint64_t sum = 0;
    if (source_field_.at != 0) sum += write_field(to, source_field_, values.source_field);
    if (destination_field_.at != 0) {
      sum += write_field(to, destination_field_, values.destination_field);
    }
    for (const auto& slot : networks_) {
      if (slot.at == 0) continue;
      to[slot.at] = values.network;
      sum += std::uint64_t{values.network} << slot.shift;
    }
    return sum;
  }

  // Reads the fields of an address pair. from: the source address; base: as in the constructor.
  [[nodiscard]] flow::Values read(const std::uint8_t* from, std::uint16_t base) const {
    const auto field = [&](Slot slot) {
      return slot.at == 0 ? std::uint16_t{0} : swap16(load<std::uint16_t>(from + slot.at - base));
    };
    return {.source_port = 0,
            .destination_port = 0,
            .source_field = field(source_field_),
            .destination_field = field(destination_field_),
            .network = 0};
  }

 private:
  // at: offset; 0: none (no frame starts with an address). shift: 8 if the offset within the
  // address is odd, because words are summed as a little-endian machine loads them.
  struct Slot {
    std::uint16_t at = 0;
    std::uint8_t shift = 0;
  };

  static std::uint64_t write_field(std::uint8_t* to, Slot slot, std::uint16_t value) {
    const auto word = swap16(value);
    store(to + slot.at, word);
    return slot.shift == 0 ? word : value;  // at an odd offset, the octets of the word are swapped
  }
  static Slot slot(std::size_t offset_in_address, std::size_t base);

  Slot source_field_;
  Slot destination_field_;
  std::array<Slot, 2> networks_;
};

}  // namespace natxy::frame
