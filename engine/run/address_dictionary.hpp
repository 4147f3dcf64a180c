// IPv6 addresses by number, so that an entry of the state table has room for one: as many as a
// gateway may have outside, which is far fewer than connections.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "flow/hash.hpp"

namespace natxy::run {

class AddressDictionary {
 public:
  using Address = std::array<std::uint8_t, 16>;
  static constexpr std::uint32_t kMax = 1U << 20U;
  static constexpr std::uint32_t kFull = ~0U;

  // Makes room for all, empty.
  void prepare() {
    addresses_.assign(kMax, {});
    slots_.assign(2 * std::size_t{kMax}, 0);
    count_ = 0;
  }
  [[nodiscard]] bool prepared() const { return !slots_.empty(); }

  // The number of an address, the next one if it is new. Called by one thread.
  [[nodiscard]] std::uint32_t number_of(const std::uint8_t* octets) {
    std::array<std::uint64_t, 2> halves;
    std::memcpy(halves.data(), octets, 16);
    const auto mask = slots_.size() - 1;
    for (auto slot = flow::mix(halves[0] ^ flow::mix(halves[1])) & mask;;
         slot = (slot + 1) & mask) {
      if (slots_[slot] == 0) return add(octets, slot);
      if (std::memcmp(addresses_[slots_[slot] - 1].data(), octets, 16) == 0) {
        return slots_[slot] - 1;
      }
    }
  }
  // Called by any thread that has the number from an entry of the table.
  [[nodiscard]] const Address& at(std::uint32_t number) const { return addresses_[number]; }

 private:
  [[nodiscard]] std::uint32_t add(const std::uint8_t* octets, std::size_t slot) {
    if (count_ == kMax) return kFull;
    std::memcpy(addresses_[count_].data(), octets, 16);
    slots_[slot] = count_ + 1;
    return count_++;
  }

  std::vector<Address> addresses_;
  std::vector<std::uint32_t> slots_;  // number + 1; 0: none
  std::uint32_t count_ = 0;
};

}  // namespace natxy::run
