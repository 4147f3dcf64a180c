// Tracks which numbers have arrived, in a bitmap of the newest numbers. So its memory depends on
// the rate and the drain, not on the length of the trial. A number that leaves the bitmap without
// having arrived is added to LossRuns.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "run/loss_runs.hpp"

namespace natxy::run {

class Window {
 public:
  enum class Mark : std::uint8_t { kNew, kDuplicate, kTooOld };

  // capacity: how far behind the newest number a frame can be distinguished from a duplicate;
  // rounded up.
  explicit Window(std::uint64_t capacity)
      : words_(std::bit_ceil(capacity / 64 + 2), 0), mask_(words_.size() - 1) {}

  [[nodiscard]] Mark mark(std::uint64_t number) {
    if (number >= end_) extend(number);
    if (end_ - number > capacity()) return Mark::kTooOld;
    auto& word = words_[(number / 64) & mask_];
    const auto bit = std::uint64_t{1} << (number % 64);
    if ((word & bit) != 0) return Mark::kDuplicate;
    word |= bit;
    return Mark::kNew;
  }
  // Marks first .. first + n - 1 (n <= 64) if these are the next numbers. Returns whether they are.
  [[nodiscard]] bool mark_next(std::uint64_t first, unsigned n) {
    if (first != end_) return false;
    extend(first + n - 1);
    const auto bits = n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
    const auto shift = first % 64;
    words_[(first / 64) & mask_] |= bits << shift;
    if (shift + n > 64) words_[(first / 64 + 1) & mask_] |= bits >> (64 - shift);
    return true;
  }
  [[nodiscard]] std::uint64_t capacity() const { return (words_.size() - 1) * 64 + 1; }

  // Returns the highest number that has arrived, plus 1.
  [[nodiscard]] std::uint64_t end() const { return end_; }

  // Returns which of the numbers 0 .. frames - 1 have not arrived.
  [[nodiscard]] LossRuns losses(std::uint64_t frames) const {
    auto found = losses_;
    const auto words = entered();
    for (auto word = gone(); word < words; ++word) {
      if (word * 64 < frames) found.word(word * 64, words_[word & mask_], frames);
    }
    if (words * 64 < frames) found.missing(words * 64, frames - words * 64);
    return found;
  }

  // Returns the smallest number that has not arrived. Repeated calls look at each word once.
  [[nodiscard]] std::uint64_t first_missing() {
    if (losses_.count > 0) return losses_.first;
    settled_ = std::max(settled_, gone());
    const auto words = entered();
    while (settled_ < words && words_[settled_ & mask_] == ~std::uint64_t{0}) ++settled_;
    if (settled_ == words) return words * 64;
    return settled_ * 64 + static_cast<unsigned>(std::countr_one(words_[settled_ & mask_]));
  }

 private:
  // Words are counted from number 0: `entered` have been in the window, `gone` of these have left.
  [[nodiscard]] std::uint64_t entered() const { return (end_ + 63) / 64; }
  [[nodiscard]] std::uint64_t gone() const {
    const auto words = entered();
    return words > words_.size() ? words - words_.size() : 0;
  }

  // Extends the window to `number`: clears the words that enter it, after counting the losses of
  // the old numbers that they held.
  void extend(std::uint64_t number) {
    const auto last = number / 64;
    auto word = entered();
    if (last >= word + words_.size()) [[unlikely]]
      word = leap(word, last);
    for (; word <= last; ++word) {
      auto& bits = words_[word & mask_];
      if (word >= words_.size() && bits != ~std::uint64_t{0}) [[unlikely]]
        losses_.word((word - words_.size()) * 64, bits);
      bits = 0;
    }
    end_ = number + 1;
  }
  // Handles a number far beyond the window: all numbers in the window leave it, and those between
  // are lost. Returns the first word of the new window.
  [[gnu::noinline]] std::uint64_t leap(std::uint64_t entered, std::uint64_t last) {
    const auto size = words_.size();
    for (auto word = entered > size ? entered - size : 0; word < entered; ++word) {
      losses_.word(word * 64, words_[word & mask_]);
    }
    const auto begin = last - size + 1;
    losses_.missing(entered * 64, (begin - entered) * 64);
    for (auto& bits : words_) bits = ~std::uint64_t{0};  // their losses are counted already
    return begin;
  }

  std::vector<std::uint64_t> words_;
  std::uint64_t mask_;
  std::uint64_t end_ = 0;      // the newest number + 1
  std::uint64_t settled_ = 0;  // all words before this one have arrived completely or are lost
  LossRuns losses_;
};

}  // namespace natxy::run
