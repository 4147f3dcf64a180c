// The state table: for each connection, in 8 octets at the index of its number, the external
// address and port that the gateway chose, as the responder saw them.
//
// Receivers write while senders read, without a lock, because an entry is one word.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "flow/permutation.hpp"

namespace natxy::run {

// Numbers the external IPv6 addresses of a gateway, because an entry of the state table has room
// for a number only. A gateway has far fewer external addresses than connections.
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
  static std::atomic_ref<std::uint32_t> word(std::uint32_t& value) {
    return std::atomic_ref<std::uint32_t>(value);
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
    auto cell = word(connection);
    auto word = cell.load(std::memory_order_relaxed);
    const auto before = of_trial(word);
    const Entry now(seen.word() | trial_ << Entry::kTrialShift);
    if (!before.stored()) [[likely]] {  // mark_answered() is called for stored entries only
      cell.store(now.word(), std::memory_order_release);
      return Learned::kNew;
    }
    if (before.same_endpoint(now)) return Learned::kKnown;
    const auto with_mark = [&] { return now.word() | (word & Entry::kAnswered); };
    while (!cell.compare_exchange_weak(word, with_mark(), std::memory_order_release,
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

// The memory of the state table: huge pages if enough are free, else ordinary ones. It is kept from
// trial to trial with its contents, because each entry names its trial.
class TableMemory {
 public:
  TableMemory() = default;
  ~TableMemory() { release(); }
  TableMemory(const TableMemory&) = delete;
  TableMemory& operator=(const TableMemory&) = delete;

  // Returns the table of the next trial, which is empty after touch() has been called until
  // touched(). Throws spec::TrialError (spec) if there is not enough memory.
  [[nodiscard]] StateTable reserve(std::uint64_t entries);
  // Clears the next piece of memory that no table has used yet. The kernel allocates its pages near
  // the calling core.
  void touch();
  [[nodiscard]] bool touched() const { return touched_ >= entries_; }

  [[nodiscard]] std::uint64_t page_bytes() const { return page_bytes_; }

 private:
  void allocate(std::uint64_t entries, std::size_t bytes);
  [[nodiscard]] bool map(std::size_t bytes, std::size_t page_bytes);
  void release();

  void* begin_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint64_t page_bytes_ = 0;
  std::uint64_t entries_ = 0;  // of the table that was reserved last
  std::uint64_t touched_ = 0;  // this many entries from the first on are 0 or from earlier trials
  std::uint64_t trial_ = 0;
};

}  // namespace natxy::run
