// The state table: for each connection, in 8 octets at the index of its number, the external
// address and port that the gateway chose, as the responder saw them.
//
// Receivers write while senders read, without a lock, because an entry is one word.
#pragma once

#include <atomic>
#include <cstdint>

#include "run/address_dictionary.hpp"

namespace natxy::run {

// An entry: the address in bits 0-31 as in a frame (IPv6: its number in the dictionary), the port
// in bits 32-47, two flags, and above them, in the table, the number of the trial that wrote it.
class Entry {
 public:
  static constexpr std::uint64_t kStored = 1ULL << 48U;
  static constexpr std::uint64_t kAnswered = 1ULL << 49U;  // a linear reply came back
  static constexpr unsigned kTrialShift = 50;
  static constexpr std::uint64_t kTrials = (1ULL << (64U - kTrialShift)) - 1;  // 0: no trial

  constexpr Entry() = default;
  constexpr explicit Entry(std::uint64_t word) : word_(word) {}
  constexpr Entry(std::uint32_t address, std::uint16_t port)
      : word_(kStored | std::uint64_t{port} << 32U | address) {}

  [[nodiscard]] constexpr std::uint64_t word() const { return word_; }
  [[nodiscard]] constexpr bool stored() const { return (word_ & kStored) != 0; }
  [[nodiscard]] constexpr bool answered() const { return (word_ & kAnswered) != 0; }
  [[nodiscard]] constexpr std::uint32_t address() const {
    return static_cast<std::uint32_t>(word_);
  }
  [[nodiscard]] constexpr std::uint16_t port() const {
    return static_cast<std::uint16_t>(word_ >> 32U);
  }
  // Returns whether both entries have the same flag kStored, trial, address and port.
  [[nodiscard]] constexpr bool same_endpoint(Entry other) const {
    return ((word_ ^ other.word_) & ~kAnswered) == 0;
  }

 private:
  std::uint64_t word_ = 0;
};

enum class Learned : std::uint8_t { kNew, kKnown, kChanged };

class StateTable {
 public:
  StateTable() = default;
  // words: one per entry, each 0 or from another trial. trial: 1 to Entry::kTrials.
  StateTable(std::uint64_t* words, std::uint64_t entries, std::uint64_t trial)
      : words_(words), entries_(entries), trial_(trial) {}

  [[nodiscard]] std::uint64_t entries() const { return entries_; }

  // Returns an entry. The acquire order matches the release order in learn(): the dictionary has an
  // IPv6 address before the table has its number.
  [[nodiscard]] Entry at(std::uint64_t connection) const {
    return of_trial(word(connection).load(std::memory_order_acquire));
  }
  void prefetch(std::uint64_t connection) const { __builtin_prefetch(words_ + connection); }
  void prefetch_to_write(std::uint64_t connection) const {
    __builtin_prefetch(words_ + connection, 1);
  }

  Learned learn(std::uint64_t connection, Entry seen) {
    auto of = word(connection);
    auto word = of.load(std::memory_order_relaxed);
    const auto before = of_trial(word);
    const Entry now(seen.word() | trial_ << Entry::kTrialShift);
    if (!before.stored()) [[likely]] {  // mark_answered() is called for stored entries only
      of.store(now.word(), std::memory_order_release);
      return Learned::kNew;
    }
    if (before.same_endpoint(now)) return Learned::kKnown;
    const auto with_mark = [&] { return now.word() | (word & Entry::kAnswered); };
    while (!of.compare_exchange_weak(word, with_mark(), std::memory_order_release,
                                     std::memory_order_relaxed)) {
    }
    return Learned::kChanged;
  }
  // Marks a stored entry as answered. Returns true if it was not marked before.
  bool mark_answered(std::uint64_t connection) {
    const Entry before(word(connection).fetch_or(Entry::kAnswered, std::memory_order_relaxed));
    return !before.answered();
  }

  // The external IPv6 addresses; unused if the external addresses are IPv4.
  [[nodiscard]] AddressDictionary& addresses() { return addresses_; }
  [[nodiscard]] const AddressDictionary& addresses() const { return addresses_; }

 private:
  // Returns the entry, or an empty one if another trial wrote it; so nothing is cleared between
  // trials.
  [[nodiscard]] Entry of_trial(std::uint64_t word) const {
    return word >> Entry::kTrialShift == trial_ ? Entry(word) : Entry();
  }
  [[nodiscard]] std::atomic_ref<std::uint64_t> word(std::uint64_t connection) const {
    return std::atomic_ref<std::uint64_t>(words_[connection]);
  }

  std::uint64_t* words_ = nullptr;
  std::uint64_t entries_ = 0;
  std::uint64_t trial_ = 0;
  AddressDictionary addresses_;
};

}  // namespace natxy::run
