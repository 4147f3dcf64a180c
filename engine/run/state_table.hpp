// What only the gateway knows of each connection, at the connection's number: its external address
// and port as the responder saw them, in 8 octets.
//
// Written by the receivers while senders read, without a lock: an entry is one word.
#pragma once

#include <atomic>
#include <cstdint>

#include "run/address_dictionary.hpp"

namespace natxy::run {

// Address in bits 0-31 as it stands in a frame (IPv6: its number in the dictionary), port in 32-47,
// two flags; above them, in the table, the trial that made it.
class Entry {
 public:
  static constexpr std::uint64_t kStored = 1ULL << 48U;
  static constexpr std::uint64_t kAnswered = 1ULL << 49U;  // a linear reply came back
  static constexpr unsigned kTrialShift = 50;
  static constexpr std::uint64_t kTrials = (1ULL << (64U - kTrialShift)) - 1;  // 0: of none

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
  // Whether both are stored, and at one external endpoint.
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
  // words: one an entry, 0 or of another trial. trial: 1 to Entry::kTrials.
  StateTable(std::uint64_t* words, std::uint64_t entries, std::uint64_t trial)
      : words_(words), entries_(entries), trial_(trial) {}

  [[nodiscard]] std::uint64_t entries() const { return entries_; }

  // Acquire, here and below: an entry's IPv6 address is in the dictionary before its number is
  // here.
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
    if (!before.stored()) [[likely]] {  // nobody marks what is not stored
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
  // Of one that is stored; true the first time.
  bool mark_answered(std::uint64_t connection) {
    const Entry before(word(connection).fetch_or(Entry::kAnswered, std::memory_order_relaxed));
    return !before.answered();
  }

  // IPv6 addresses outside; unused where the outside is IPv4.
  [[nodiscard]] AddressDictionary& addresses() { return addresses_; }
  [[nodiscard]] const AddressDictionary& addresses() const { return addresses_; }

 private:
  // What another trial left is no entry: so nothing is cleared between trials.
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
