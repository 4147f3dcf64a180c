// Queues of what has to wait, and the token buckets that let it pass.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "gateway/octets.hpp"

namespace natxy::gateway {

// A queue of things that wait for their time. They are taken in the order of their times; at equal
// times, in the order of arrival.
template <typename T>
class Timeline {
 public:
  void put(Nanoseconds due_ns, T thing) {
    heap_.push_back({due_ns, next_order_++, std::move(thing)});
    std::ranges::push_heap(heap_, later);
  }

  [[nodiscard]] bool is_empty() const { return heap_.empty(); }
  [[nodiscard]] bool has_due(Nanoseconds now_ns) const {
    return !heap_.empty() && heap_.front().due_ns <= now_ns;
  }

  // Removes the first thing and returns it with its time. The queue must not be empty.
  [[nodiscard]] std::pair<Nanoseconds, T> take() {
    std::ranges::pop_heap(heap_, later);
    auto entry = std::move(heap_.back());
    heap_.pop_back();
    return {entry.due_ns, std::move(entry.thing)};
  }

 private:
  struct Entry {
    Nanoseconds due_ns;
    std::uint64_t order;
    T thing;
  };
  static bool later(const Entry& a, const Entry& b) {
    return a.due_ns != b.due_ns ? a.due_ns > b.due_ns : a.order > b.order;
  }

  std::vector<Entry> heap_;
  std::uint64_t next_order_ = 0;
};

// A queue with a maximum number of frames, before a server or a link of a given rate. Computes when
// a frame that arrives now will have left, exactly for any rate. Keeps only the departure times.
class DrainQueue {
 public:
  // depth: tokens of a bucket that refills at the rate and is full at the start. Each frame takes
  // one, and waits only if there is none (a shaper); 0: each frame takes its time on the link.
  DrainQueue(std::uint64_t frames, std::uint64_t drain_fps, std::uint64_t depth = 0)
      : frames_(frames), drain_fps_(drain_fps), credit_(duration(depth)) {}

  // Returns the departure time of a frame; absent if the queue is full. The frame that the link is
  // sending counts as in the queue. work: how many times as long as others the frame takes.
  [[nodiscard]] std::optional<Nanoseconds> departure(Nanoseconds now_ns, std::uint64_t work = 1) {
    while (!departures_ns_.empty() && departures_ns_.front() <= now_ns) departures_ns_.pop_front();
    if (departures_ns_.size() >= frames_) return std::nullopt;
    free_ = std::max(free_, Uint128{now_ns} * drain_fps_) + duration(work);
    departures_ns_.push_back(std::max(now_ns, rounded_up_ns(free_ - std::min(free_, credit_))));
    return departures_ns_.back();
  }

 private:
  // Times are in parts of 1 / drain_fps ns, of which a frame takes 1e9.
  [[nodiscard]] static Uint128 duration(std::uint64_t frames) {
    return Uint128{frames} * 1'000'000'000U;
  }
  [[nodiscard]] Nanoseconds rounded_up_ns(Uint128 parts) const {
    return static_cast<Nanoseconds>((parts + drain_fps_ - 1) / drain_fps_);
  }

  std::uint64_t frames_;
  std::uint64_t drain_fps_;
  Uint128 credit_;
  Uint128 free_ = 0;  // when the link will be free
  std::deque<Nanoseconds> departures_ns_;
};

// A token bucket that is exact for any rate: tokens are counted in billionths, so that each
// nanosecond adds rate_fps units.
class TokenBucket {
 public:
  TokenBucket(std::uint64_t rate_fps, std::uint64_t depth)
      : rate_fps_(rate_fps), full_(Uint128{depth} * kToken), level_(full_) {}

  // Takes this many tokens if they are there. Times must not go backwards.
  [[nodiscard]] bool take(Nanoseconds now_ns, std::uint64_t tokens = 1) {
    if (is_started_) level_ = std::min(full_, level_ + Uint128{now_ns - last_ns_} * rate_fps_);
    is_started_ = true;
    last_ns_ = now_ns;
    const auto taken = Uint128{tokens} * kToken;
    if (level_ < taken) return false;
    level_ -= taken;
    return true;
  }

 private:
  static constexpr std::uint64_t kToken = 1'000'000'000;

  std::uint64_t rate_fps_;
  Uint128 full_;
  Uint128 level_;
  Nanoseconds last_ns_ = 0;
  bool is_started_ = false;  // the bucket is full until the first frame
};

}  // namespace natxy::gateway
