// What the receivers of one stream know together: which numbers have arrived at any of them, when
// the last frame arrived, and the hop limits on arrival.
//
// Each receiver has a Window of its own. A word leaves all windows together: the first receiver
// that needs its place adds the numbers that no window has to the LossRuns.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "frame/layout.hpp"
#include "run/clock.hpp"
#include "spec/runs.hpp"

namespace natxy::run {

// The numbers that did not arrive: their count, the first, the last, and their runs of consecutive
// ones, which are the gaps in the numbering. They are added in ascending order.
struct LossRuns {
  std::uint64_t count = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t gaps = 0;  // runs of consecutive numbers that are missing
  std::uint64_t longest = 0;
  std::uint64_t longest_first = 0;
  spec::Runs runs;  // bounded, so some may be joined

  // Adds the numbers from .. from + n - 1, which are above all that were added before.
  void missing(std::uint64_t from, std::uint64_t n) {
    if (n == 0) return;
    if (count == 0) first = from;
    if (count == 0 || from != last + 1) {
      run_first_ = from;
      ++gaps;
    }
    count += n;
    last = from + n - 1;
    runs.add({.first = from, .end = from + n, .count = n});
    if (last - run_first_ + 1 > longest) {
      longest = last - run_first_ + 1;
      longest_first = run_first_;
    }
  }
  // Adds the missing ones of 64 numbers from `from` on. came: one bit for each number that arrived.
  // Numbers from `end` on do not count.
  void word(std::uint64_t from, std::uint64_t came, std::uint64_t end = ~std::uint64_t{0}) {
    auto absent = ~came;
    if (end - from < 64) absent &= (std::uint64_t{1} << (end - from)) - 1;
    while (absent != 0) {
      const auto begin = static_cast<unsigned>(std::countr_zero(absent));
      const auto length = static_cast<unsigned>(std::countr_one(absent >> begin));
      missing(from + begin, length);
      if (begin + length >= 64) return;
      absent &= ~std::uint64_t{0} << (begin + length);
    }
  }

 private:
  std::uint64_t run_first_ = 0;
};

class Arrivals;

// Tracks which numbers have arrived at one receiver, in a bitmap of the newest numbers. So its
// memory depends on the rate and the drain, not on the length of the trial.
//
// Only the window's receiver writes it. Arrivals reads it, also from other receivers' threads.
//
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

class Arrivals {
 public:
  // capacity: see Window; rounded up. receivers: those of the stream, at least 1.
  explicit Arrivals(std::uint64_t capacity, unsigned receivers = 1)
      : capacity_((capacity / 64 + 1) * 64 + 1),
        spare_(std::clamp<std::uint64_t>(capacity / 256, 1, kMostSpare)),
        size_(std::bit_ceil(capacity_ / 64 + 2 + spare_)) {
    for (unsigned i = 0; i < receivers; ++i) windows_.emplace_back(*this, capacity_, size_);
    for (unsigned i = 0; i < receivers; ++i) last_.emplace_back();
  }
  Arrivals(const Arrivals&) = delete;  // the windows refer to it
  Arrivals& operator=(const Arrivals&) = delete;

  [[nodiscard]] unsigned receivers() const { return static_cast<unsigned>(windows_.size()); }
  [[nodiscard]] Window& window(unsigned receiver) { return windows_[receiver]; }

  // Returns which of the numbers 0 .. frames - 1 have not arrived. Called when no receiver runs.
  [[nodiscard]] LossRuns losses(std::uint64_t frames) const;
  // Returns how many numbers have arrived at more than one receiver. Called when no receiver runs.
  [[nodiscard]] std::uint64_t shared() const;

  // Returns the smallest number that has not arrived. Repeated calls look at each word once. Called
  // by one receiver only.
  [[nodiscard]] std::uint64_t first_missing();

  // Returns the first word whose losses are not counted yet. Frames of the words before it are too
  // old.
  [[nodiscard]] std::uint64_t settled() const { return settled_.load(std::memory_order_acquire); }
  // Counts the losses of old words, so that `word` may enter a window. Returns the first word that
  // may not enter yet.
  [[nodiscard]] std::uint64_t make_room(std::uint64_t word);

  // Notes when a receiver's last frame arrived.
  void came(unsigned receiver, Ticks at) {
    last_[receiver].at.store(at, std::memory_order_relaxed);
  }
  // Returns when the stream's last frame arrived; kNever if none has.
  [[nodiscard]] Ticks last_came() const {
    Ticks last = kNever;
    for (const auto& receiver_last : last_) {
      const auto at = receiver_last.at.load(std::memory_order_relaxed);
      if (at != kNever && (last == kNever || at > last)) last = at;
    }
    return last;
  }

  // Returns the hop limits of the first frame of a kind, at whichever receiver it arrived; `seen`
  // if no frame came before.
  [[nodiscard]] frame::HopLimits agree_on_hop_limits(std::size_t kind, frame::HopLimits seen) {
    frame::HopLimits before;
    return hop_limits_[kind].compare_exchange_strong(before, seen) ? seen : before;
  }

 private:
  // Words that are settled beyond those that must be, so that it is done seldom.
  static constexpr std::uint64_t kMostSpare = 512;
  struct alignas(64) Last {
    std::atomic<Ticks> at{kNever};
  };

  [[nodiscard]] std::uint64_t entered() const;
  [[nodiscard]] std::uint64_t merged(std::uint64_t word) const;
  [[nodiscard]] std::uint64_t shared_in(std::uint64_t word) const;

  // Counts the losses of all words before `end`.
  void settle(std::uint64_t end);

  std::uint64_t capacity_;  // in numbers
  std::uint64_t spare_;     // in words
  std::uint64_t size_;      // of each window, in words
  std::deque<Window> windows_;
  std::deque<Last> last_;
  std::mutex settling_;
  std::atomic<std::uint64_t> settled_{0};
  LossRuns losses_;
  std::uint64_t shared_ = 0;
  std::uint64_t complete_ = 0;  // all words before this one have arrived completely or are lost
  static_assert(alignof(frame::HopLimits) == sizeof(frame::HopLimits),
                "clang calls libatomic for an exchange with what may lie anywhere");
  std::array<std::atomic<frame::HopLimits>, 2> hop_limits_{};  // by kind
};

inline std::uint64_t Window::settled() const {
  return arrivals_->settled();
}

}  // namespace natxy::run
