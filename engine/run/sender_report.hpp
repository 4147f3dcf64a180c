// What a sender tells the receivers while it sends, and what it counted and measured in one phase.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "run/clock.hpp"
#include "run/histogram.hpp"
#include "run/schedule.hpp"
#include "spec/runs.hpp"
#include "spec/stream_result.hpp"

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

// Tells receivers which numbers of a stream have left, and the base of their stamps. The senders
// update both while they send.
//
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

// Why a sender stopped before its last frame.
enum class GaveUp : std::uint8_t {
  kNo,
  kBehind,   // the sender was kept from its core, or is too slow
  kRefused,  // the port did not accept frames
};

struct SenderReport : spec::SenderCounters {
  std::array<std::uint64_t, 2> sent{};  // by kind
  std::uint64_t pauses = 0;
  Ticks paused = 0;  // total of all pauses
  Ticks longest_pause = 0;
  // By why the sender was behind: it was kept from its core, or the port had refused a frame. A run
  // is a pause before its first number; its count is the pause in ticks.
  std::array<spec::Runs, 2> pauses_at;
  spec::Runs late_runs;  // numbers that left late by the current schedule, with the sender's stride
  Ticks first_departure = kNever;
  Ticks last_departure = 0;
  GaveUp gave_up = GaveUp::kNo;
  Ticks behind = 0;  // how late the next frame was when the sender gave up
  Histogram<5> lateness;
  Histogram<5> send_call;
  Histogram<1> step_gap;  // per frame: time until the sender's next step, by when it has left
  std::vector<TagDeparture> tags;
};

// Adds the report of another sender of the same stream.
inline void merge(SenderReport& into, const SenderReport& from) {
  for (std::size_t kind = 0; kind < 2; ++kind) into.sent[kind] += from.sent[kind];
  const auto largest_burst = std::max(into.largest_burst, from.largest_burst);
  spec::add<spec::SenderCounters>(into, from);
  into.largest_burst = largest_burst;
  into.pauses += from.pauses;
  into.paused = std::max(into.paused, from.paused);
  into.longest_pause = std::max(into.longest_pause, from.longest_pause);
  for (std::size_t why = 0; why < 2; ++why) into.pauses_at[why].merge(from.pauses_at[why]);
  into.late_runs.merge(from.late_runs);
  into.first_departure = std::min(into.first_departure, from.first_departure);
  into.last_departure = std::max(into.last_departure, from.last_departure);
  into.gave_up = std::max(into.gave_up, from.gave_up);
  into.behind = std::max(into.behind, from.behind);
  into.lateness.merge(from.lateness);
  into.send_call.merge(from.send_call);
  into.step_gap.merge(from.step_gap);
  into.tags.insert(into.tags.end(), from.tags.begin(), from.tags.end());
}

}  // namespace natxy::run
