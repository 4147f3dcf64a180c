// Numbers the external IPv6 addresses of a gateway, because an entry of the state table has room
// for a number only. A gateway has far fewer external addresses than connections.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "flow/permutation.hpp"

namespace natxy::run {

class AddressDictionary {
 public:
  using Address = std::array<std::uint8_t, 16>;
  static constexpr std::uint32_t kMax = 1U << 20U;
  static constexpr std::uint32_t kFull = ~0U;

  // Allocates memory for kMax addresses and removes all entries.
  void prepare() {
    addresses_.assign(kMax, {});
    slots_.assign(2 * std::size_t{kMax}, 0);
    count_ = 0;
  }
  [[nodiscard]] bool prepared() const { return !slots_.empty(); }

  // Returns the number of an address; a new address gets the next number, or kFull if the
  // dictionary is full. Several receivers may call it at the same time.
  [[nodiscard]] std::uint32_t number_of(const std::uint8_t* octets) {
    std::array<std::uint64_t, 2> halves;
    std::memcpy(halves.data(), octets, 16);
    const auto mask = slots_.size() - 1;
    for (auto slot = flow::mix(halves[0] ^ flow::mix(halves[1])) & mask;;
         slot = (slot + 1) & mask) {
      const auto held = word(slots_[slot]).load(std::memory_order_acquire);
      if (held == 0) return add(octets, slot);
      if (std::memcmp(addresses_[held - 1].data(), octets, 16) == 0) return held - 1;
    }
  }
  // Returns the address of a number. May be called by each thread that read the number from the
  // state table.
  [[nodiscard]] const Address& at(std::uint32_t number) const { return addresses_[number]; }

 private:
  static std::atomic_ref<std::uint32_t> word(std::uint32_t& of) {
    return std::atomic_ref<std::uint32_t>(of);
  }

  // Adds an address at an empty slot; at a later one, if another receiver has just used this one.
  // New addresses are rare, so receivers wait for each other.
  [[nodiscard]] std::uint32_t add(const std::uint8_t* octets, std::size_t slot) {
    while (word(adding_).exchange(1, std::memory_order_acquire) != 0) {
    }
    const auto number = add_alone(octets, slot);
    word(adding_).store(0, std::memory_order_release);
    return number;
  }
  [[nodiscard]] std::uint32_t add_alone(const std::uint8_t* octets, std::size_t slot) {
    for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
      if (std::memcmp(addresses_[slots_[slot] - 1].data(), octets, 16) == 0) {
        return slots_[slot] - 1;
      }
    }
    if (count_ == kMax) return kFull;
    std::memcpy(addresses_[count_].data(), octets, 16);
    word(slots_[slot]).store(count_ + 1, std::memory_order_release);
    return count_++;
  }

  std::vector<Address> addresses_;
  std::vector<std::uint32_t> slots_;  // number + 1; 0: empty slot
  std::uint32_t count_ = 0;
  std::uint32_t adding_ = 0;  // 1 while a receiver adds an address
};

}  // namespace natxy::run
