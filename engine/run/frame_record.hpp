// Rings that carry the record of each frame from the receivers to the record writer.
//
// Each ring has one producer, the receiver of a side; all rings have the same consumer. A producer
// never waits: records that find no room are counted.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "run/clock.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::run {

enum class FrameStatus : std::uint8_t { kReceived, kLate, kDuplicate };

struct FrameRecord {
  std::uint64_t number = 0;
  Ticks departure = 0;  // since the phase's start
  Ticks delay = 0;
  std::uint8_t phase = 0;
  spec::Direction direction = spec::Direction::kForward;
  spec::Kind kind = spec::Kind::kForeground;
  FrameStatus status = FrameStatus::kReceived;
  std::uint32_t nonce = 0;
};
static_assert(sizeof(FrameRecord) == 32);

class RecordRing {
 public:
  static constexpr std::size_t kFrames = std::size_t{1} << 20U;  // 0.1 s at 10 Mfps

  // Called before the first trial that asks for records.
  void allocate() { slots_.resize(kFrames); }

  void push(const FrameRecord& record) {
    const auto at = pushed_.load(std::memory_order_relaxed);
    if (at - taken_.load(std::memory_order_acquire) == kFrames) {
      ++lost_;
      return;
    }
    slots_[at % kFrames] = record;
    pushed_.store(at + 1, std::memory_order_release);
  }
  // Calls `use` with the next records, at most kLongest. Returns how many there were.
  template <class Use>
  std::size_t take(Use&& use) {
    const auto from = taken_.load(std::memory_order_relaxed);
    const auto come = pushed_.load(std::memory_order_acquire) - from;
    const auto n = std::min({come, std::uint64_t{kLongest}, kFrames - from % kFrames});
    if (n == 0) return 0;
    use(&slots_[from % kFrames], n);
    taken_.store(from + n, std::memory_order_release);
    return n;
  }
  [[nodiscard]] bool empty() const { return taken_.load() == pushed_.load(); }
  // Returns the number of lost records and sets it to 0. Called by the producer's thread, or after
  // that thread has ended.
  [[nodiscard]] std::uint64_t take_lost() { return std::exchange(lost_, 0); }

 private:
  static constexpr std::size_t kLongest = 2048;

  std::vector<FrameRecord> slots_;
  alignas(64) std::atomic<std::uint64_t> pushed_{0};
  std::uint64_t lost_ = 0;
  alignas(64) std::atomic<std::uint64_t> taken_{0};
};

// The rings of both receivers. The consumer empties them in its own thread.
struct RecordRings {
  std::array<RecordRing, 2> by_side;
  std::atomic<bool> abandoned{false};  // nobody reads the records: settle() does not wait

  [[nodiscard]] RecordRing& of(spec::Side side) { return by_side[static_cast<std::size_t>(side)]; }
  void allocate() {
    for (auto& ring : by_side) ring.allocate();
  }
  // Waits until the consumer has taken all records, or the trial is cancelled.
  void settle(const std::atomic<bool>& cancelled) const {
    const auto all_taken = [this] { return by_side[0].empty() && by_side[1].empty(); };
    while (!all_taken() && !abandoned.load() && !cancelled.load()) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
};

}  // namespace natxy::run
