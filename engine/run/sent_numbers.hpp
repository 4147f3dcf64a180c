// Tells receivers which numbers of a stream have left, and the base of their stamps. The senders
// update both while they send.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "run/clock.hpp"

namespace natxy::run {

// The part of the lateness that a sender's stamps leave out.
//
// A stamp has 32 bits for the lateness of its frame by the original schedule, in ticks: two seconds
// of pauses at 2 GHz. So it holds the sender's pauses minus a base, which is a multiple of kStep,
// and the sender publishes from which number on each base applies.
//
// Written by the sender before it sends the first frame with the base; read by the receiver.
class StampBases {
 public:
  static constexpr Ticks kStep = Ticks{1} << 31U;

  // Sets the base from `number` on. It must be higher than the one before.
  void set(std::uint64_t number, Ticks base) {
    const auto count = count_.load(std::memory_order_relaxed);
    auto& entry = entries_[count % kKept];
    entry.number.store(number, std::memory_order_relaxed);
    entry.base.store(base, std::memory_order_relaxed);
    count_.store(count + 1, std::memory_order_release);
  }

  // Returns the base that applies to a number. A frame from before the oldest base that is kept has
  // been on its way for 14 steps, seven seconds at 4 GHz. It counts as sent just before that base,
  // so its delay remains that long.
  [[nodiscard]] Ticks at(std::uint64_t number) const {
    const auto count = count_.load(std::memory_order_acquire);
    // The sender may be overwriting the oldest entry.
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

// Sender s of k sends the numbers s, s + k, s + 2k, ...; each publishes how many it has sent.
class SentNumbers {
 public:
  // Adds a sender. bases: null if it does not pause.
  void add(const std::atomic<std::uint64_t>& sent, const StampBases* bases = nullptr) {
    senders_.push_back({.sent = &sent, .bases = bases});
  }

  [[nodiscard]] bool has_left(std::uint64_t number) const {
    if (senders_.empty()) return false;
    const auto count = senders_.size();
    return number / count < senders_[number % count].sent->load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t total() const {
    std::uint64_t total = 0;
    for (const auto& sender : senders_) total += sender.sent->load(std::memory_order_relaxed);
    return total;
  }
  // Returns the part of a frame's lateness that its stamp leaves out.
  [[nodiscard]] Ticks stamp_base(std::uint64_t number) const {
    if (senders_.empty()) return 0;
    const auto* bases = senders_[number % senders_.size()].bases;
    return bases == nullptr ? 0 : bases->at(number);
  }

 private:
  struct Sender {
    const std::atomic<std::uint64_t>* sent;
    const StampBases* bases;
  };
  std::vector<Sender> senders_;
};

}  // namespace natxy::run
