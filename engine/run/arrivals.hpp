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
#include <cstdint>
#include <deque>
#include <mutex>

#include "frame/layout.hpp"
#include "run/clock.hpp"
#include "run/loss_runs.hpp"
#include "run/window.hpp"

namespace natxy::run {

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
    for (const auto& each : last_) {
      const auto at = each.at.load(std::memory_order_relaxed);
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
