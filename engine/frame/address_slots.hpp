// The positions of the varying parts of an address pair: at most a network octet in each address,
// and a field, whose bits may be anywhere.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "flow/flow.hpp"
#include "frame/checksum.hpp"
#include "frame/layout.hpp"

namespace natxy::frame {

class AddressSlots {
 public:
  AddressSlots() = default;
  // base: offset of the source address in the buffer of write(); the destination address follows
  // it.
  AddressSlots(const spec::PacketFormat& format, std::uint16_t networks, std::uint16_t base);
  AddressSlots(const spec::Tunnel& tunnel, std::uint16_t networks, std::uint16_t base);

  // Writes the values. Returns their contribution to a sum of 16-bit words, if the buffer's
  // template has zeros in their places.
  std::uint64_t write(std::uint8_t* to, const flow::Values& values) const {
    std::uint64_t sum = 0;
    if (source_field_.at != 0) sum += write_field(to, source_field_, values.source_field);
    if (destination_field_.at != 0) {
      sum += write_field(to, destination_field_, values.destination_field);
    }
    if (pieces_end_ != 0) [[unlikely]]
      sum += write_pieces(to, values);
    for (const auto& slot : networks_) {
      if (slot.at == 0) continue;
      to[slot.at] = values.network;
      sum += std::uint64_t{values.network} << slot.shift;
    }
    return sum;
  }

  // Reads the fields of an address pair. from: the source address; base: as in the constructor.
  [[nodiscard]] flow::Values read(const std::uint8_t* from, std::uint16_t base) const;

 private:
  // at: offset; 0: none (no frame starts with an address). shift: 8 if the offset within the
  // address is odd, because words are summed as a little-endian machine loads them.
  struct Slot {
    std::uint16_t at = 0;
    std::uint8_t shift = 0;
  };
  // Bits of a field in one of the 16-bit words of an address: (value >> value_bit & mask) << shift.
  struct Piece {
    std::uint16_t at = 0;    // offset of the word
    std::uint16_t mask = 0;  // of the value, after value_bit
    std::uint8_t value_bit = 0;
    std::uint8_t shift = 0;
  };
  using Field = std::vector<spec::FieldBits>;
  // Each part of a field has at most 24 bits, so it reaches into at most three words.
  static constexpr std::size_t kMaxPieces = 2 * spec::kMaxFieldPlaces * 3;

  static std::uint64_t write_field(std::uint8_t* to, Slot slot, std::uint32_t value) {
    const auto word = swap16(static_cast<std::uint16_t>(value));
    store(to + slot.at, word);
    // At an odd offset, the octets of the word are swapped.
    return slot.shift == 0 ? word : static_cast<std::uint16_t>(value);
  }
  std::uint64_t write_pieces(std::uint8_t* to, const flow::Values& values) const {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < pieces_end_; ++i) {
      const auto value = i < sources_end_ ? values.source_field : values.destination_field;
      sum += write_piece(to, pieces_[i], value);
    }
    return sum;
  }
  static std::uint64_t write_piece(std::uint8_t* to, const Piece& piece, std::uint32_t value) {
    const auto placed = [&](std::uint32_t bits) {
      return swap16(static_cast<std::uint16_t>((bits & piece.mask) << piece.shift));
    };
    const auto word = placed(value >> piece.value_bit);
    const auto kept = load<std::uint16_t>(to + piece.at) & ~std::uint32_t{placed(~0U)};
    store(to + piece.at, static_cast<std::uint16_t>(kept | word));
    return word;
  }

  static Slot slot(std::size_t offset_in_address, std::size_t base);
  struct Ends {
    const spec::AddressPattern& source;
    const spec::AddressPattern& destination;
    spec::IpVersion version;
  };
  AddressSlots(const Ends& ends, std::uint16_t networks, std::uint16_t source);
  // Both return the slot or add the pieces of a field in the address at this offset.
  Slot place(const Field& field, std::uint16_t base);
  void add_pieces(const spec::FieldBits& place, std::uint16_t base);
  [[nodiscard]] static std::uint32_t read_pieces(const std::uint8_t* from, std::uint16_t base,
                                                 std::span<const Piece> pieces);

  Slot source_field_;       // of 16 bits that begin with an octet, the usual case
  Slot destination_field_;  // the same
  std::array<Slot, 2> networks_;
  unsigned sources_end_ = 0;  // the pieces of the source come first
  unsigned pieces_end_ = 0;
  std::array<Piece, kMaxPieces> pieces_{};
};

}  // namespace natxy::frame
