// Which numbers have arrived: a bitmap over the newest numbers, so that memory depends on rate and
// timeout and not on the trial's length.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace natxy::run {

class Window {
 public:
  enum class Mark : std::uint8_t { kNew, kDuplicate, kTooOld };

  // capacity: how far behind the newest number a frame may come and still be told from a
  // duplicate; rounded up.
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
  // Marks first .. first + n - 1 (n <= 64) if that is just what was to come next.
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

 private:
  // Clears what the words that come into the window held of numbers long gone.
  void extend(std::uint64_t number) {
    const auto last = number / 64;
    auto word = end_ == 0 ? 0 : (end_ - 1) / 64 + 1;
    if (last >= words_.size() && word < last - words_.size() + 1) word = last - words_.size() + 1;
    for (; word <= last; ++word) words_[word & mask_] = 0;
    end_ = number + 1;
  }

  std::vector<std::uint64_t> words_;
  std::uint64_t mask_;
  std::uint64_t end_ = 0;  // the newest number + 1
};

}  // namespace natxy::run
