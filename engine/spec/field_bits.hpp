// Writes the field of an address, bit by bit. The hot loops have frame::AddressSlots instead.
#pragma once

#include <cstdint>
#include <vector>

#include "spec/trial_spec.hpp"

namespace natxy::spec {

// Sets the bits of the field in an address to those of a value, and leaves the others as they are.
inline void put_field(std::uint8_t* address, const std::vector<FieldBits>& field,
                      std::uint32_t value) {
  for (const auto& place : field) {
    for (unsigned i = 0; i < place.bits; ++i) {
      const unsigned at = place.address_bit + i;
      const auto mask = static_cast<std::uint8_t>(0x80U >> at % 8);
      const bool set = (value >> (place.value_bit + place.bits - 1U - i) & 1U) != 0;
      auto& octet = address[at / 8];
      octet = static_cast<std::uint8_t>(set ? octet | mask : octet & ~mask);
    }
  }
}

}  // namespace natxy::spec
