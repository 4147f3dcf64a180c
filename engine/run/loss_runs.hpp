// The numbers that did not arrive: their count, the first, the last, and their runs of consecutive
// ones, which are the gaps in the numbering. They are added in ascending order.
#pragma once

#include <bit>
#include <cstdint>

#include "spec/runs.hpp"

namespace natxy::run {

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

}  // namespace natxy::run
