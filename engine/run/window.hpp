// Tracks which numbers have arrived at one receiver, in a bitmap of the newest numbers. So its
// memory depends on the rate and the drain, not on the length of the trial.
//
// Only the window's receiver writes it. Arrivals reads it, also from other receivers' threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace natxy::run {

class Arrivals;

// Words hold 64 numbers each, and are counted from number 0.
class alignas(64) Window {
 public:
  enum class Mark : std::uint8_t { kNew, kDuplicate, kTooOld };
  static constexpr unsigned kMaxLot = 32;

  // capacity: how far behind the newest number a frame can be told from a duplicate. words: those
  // that the bitmap holds, a power of two; at least one word more than the capacity needs.
  Window(Arrivals& arrivals, std::uint64_t capacity, std::size_t words)
      : arrivals_(&arrivals), capacity_(capacity), words_(words, 0), mask_(words - 1) {}
  Window(const Window&) = delete;  // Arrivals refers to it
  Window& operator=(const Window&) = delete;

  [[nodiscard]] Mark mark(std::uint64_t number) {
    if (number >= newest()) extend(number);
    if (newest() - number > capacity_ || number / 64 < settled()) return Mark::kTooOld;
    const auto word = at(number / 64);
    const auto bits = word.load(std::memory_order_relaxed);
    const auto bit = std::uint64_t{1} << (number % 64);
    if ((bits & bit) != 0) return Mark::kDuplicate;
    word.store(bits | bit, std::memory_order_relaxed);
    return Mark::kNew;
  }
  // Marks first .. first + n - 1 (n <= 64) if these are the next numbers. Returns whether they are.
  [[nodiscard]] bool mark_next(std::uint64_t first, unsigned n) {
    if (first != newest()) return false;
    extend(first + n - 1);
    const auto bits = n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
    const auto shift = first % 64;
    add(first / 64, bits << shift);
    if (shift + n > 64) add(first / 64 + 1, bits >> (64 - shift));
    return true;
  }
  // Marks n <= kMaxLot numbers, one after the other. Returns one bit for each that is new.
  [[nodiscard]] std::uint32_t mark_lot(const std::uint64_t* numbers, unsigned n) {
    std::uint32_t fresh = 0;
    for (unsigned i = 0; i < n; ++i) {
      fresh |= static_cast<std::uint32_t>(mark(numbers[i]) == Mark::kNew) << i;
    }
    return fresh;
  }

  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  // Returns the highest number that has arrived, plus 1.
  [[nodiscard]] std::uint64_t end() const { return end_.load(std::memory_order_acquire); }
  // Returns the words that have been in the bitmap; the last ones of them still are.
  [[nodiscard]] std::uint64_t entered() const { return (end() + 63) / 64; }
  // Returns the numbers of a word that have arrived, one bit each. The word must not have left.
  [[nodiscard]] std::uint64_t word(std::uint64_t index) const {
    return index < entered() ? at(index).load(std::memory_order_relaxed) : 0;
  }

 private:
  [[nodiscard]] std::uint64_t newest() const { return end_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::atomic_ref<std::uint64_t> at(std::uint64_t word) const {
    return std::atomic_ref<std::uint64_t>(words_[word & mask_]);
  }
  void add(std::uint64_t index, std::uint64_t bits) {
    const auto word = at(index);
    word.store(word.load(std::memory_order_relaxed) | bits, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t settled() const;

  // Extends the window to `number`: clears the words that enter it.
  void extend(std::uint64_t number) {
    const auto last = number / 64;
    auto word = (newest() + 63) / 64;
    if (last >= room_) [[unlikely]]
      word = make_room(word, last);
    for (; word <= last; ++word) at(word).store(0, std::memory_order_relaxed);
    end_.store(number + 1, std::memory_order_release);
  }
  // Has the losses of the oldest words counted, so that `last` may enter. Returns the first word
  // that enters.
  std::uint64_t make_room(std::uint64_t entered, std::uint64_t last);

  Arrivals* arrivals_;
  std::uint64_t capacity_;
  mutable std::vector<std::uint64_t> words_;  // atomic_ref has no const form before C++26
  std::uint64_t mask_;
  std::uint64_t room_ = 0;             // the first word that may not enter yet
  std::atomic<std::uint64_t> end_{0};  // the newest number + 1
};

}  // namespace natxy::run
