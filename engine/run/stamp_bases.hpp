// What a sender's stamps leave out.
//
// A stamp has 32 bits for how late its frame left by the schedule as the spec has it, in ticks: two
// seconds of pauses at 2 GHz. So it holds what the sender's pauses are beyond a base, a multiple of
// kStep, and the sender tells from which of its numbers on each base holds.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "run/clock.hpp"

namespace natxy::run {

// Written by the sender, before it sends a frame with the base; read by the receiver.
class StampBases {
 public:
  static constexpr Ticks kStep = Ticks{1} << 31U;

  // Holds from `number` on, and is higher than the one before.
  void set(std::uint64_t number, Ticks base) {
    const auto count = count_.load(std::memory_order_relaxed);
    auto& entry = entries_[count % kKept];
    entry.number.store(number, std::memory_order_relaxed);
    entry.base.store(base, std::memory_order_relaxed);
    count_.store(count + 1, std::memory_order_release);
  }

  // A frame from before the oldest base that is kept has been on its way for 14 steps, seven
  // seconds at 4 GHz: it is taken to have left just before that base, so its delay is still as
  // long.
  [[nodiscard]] Ticks at(std::uint64_t number) const {
    const auto count = count_.load(std::memory_order_acquire);
    // The sender may be writing the oldest.
    const auto kept = std::min<std::uint64_t>(count, kKept - 1);
    Ticks base = 0;
    for (auto i = count; i > count - kept; --i) {
      const auto& entry = entries_[(i - 1) % kKept];
      base = entry.base.load(std::memory_order_relaxed);
      if (number >= entry.number.load(std::memory_order_relaxed)) return base;
    }
    return kept == count ? 0 : base - kStep;
  }

 private:
  static constexpr std::size_t kKept = 16;
  struct Entry {
    std::atomic<std::uint64_t> number{0};
    std::atomic<Ticks> base{0};
  };
  std::array<Entry, kKept> entries_;
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace natxy::run
