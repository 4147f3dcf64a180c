// Receives the frames that arrive at one receive queue of a port, has each checked against its
// number, and has it recorded: the hot loop of arrivals.
//
// For Queue see port/rx_queue.hpp, for Clock see clock.hpp. Only the receiver's worker may call its
// functions, except progress().
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "run/arrival_recorder.hpp"
#include "run/arrivals.hpp"
#include "run/clock.hpp"
#include "run/connection_recorder.hpp"
#include "run/frame_check.hpp"
#include "run/receiver_report.hpp"
#include "run/sender_report.hpp"
#include "run/stream_plan.hpp"
#include "run/worker.hpp"

namespace natxy::run {

template <flow::Shape kShape, class Clock, class Queue>
class Receiver {
 public:
  // plan: the stream that arrives here; null if no stream arrives at this port.
  Receiver(const StreamPlan* plan, const ReceiverSetup& setup, Queue& queue)
      : plan_(plan),
        queue_(&queue),
        setup_(setup),
        layouts_(plan != nullptr ? plan->layouts : frame::Layouts()),
        window_(setup.arrivals == nullptr ? nullptr : &setup.arrivals->window(setup.receiver)),
        check_(plan, setup.hop_limits, setup.arrivals),
        stamped_(queue.stamps()),
        recorder_(plan, setup_, stamped_) {}
  Receiver(const Receiver&) = delete;  // the recorder refers to setup_
  Receiver& operator=(const Receiver&) = delete;

  void begin(Ticks start) {
    start_ = start;
    looked_ = stepped_ = start;
    recorder_.begin(start);
    next_look_ = setup_.early_end == kNever ? kNever : start + setup_.early_end;
  }

  // Polls the port once. Returns whether there were frames.
  bool step(Ticks now) {
    const auto n = queue_->receive(frames_.data(), kMaxReceive);
    const auto before = std::exchange(stepped_, now);
    if (now >= next_look_) [[unlikely]]
      look_for_loss(now);
    queue_->tend(now);
    if (n == 0) {
      empty_at(now);
      return false;
    }
    const auto arrived = Clock::now();
    // Before the start, with `looked_` in the future, only frames of an earlier trial are there.
    const auto gap = arrived > looked_ ? arrived - looked_ : 0;
    found_ += n;
    // Measured up to `arrived`, because the core may have been taken between `now` and the call.
    if (arrived - before > setup_.long_absence || waiting_ > 0) [[unlikely]]
      look_for_overrun();
    if (n < kMaxReceive) empty_at(now);  // else more frames may be waiting in the ring
    recorder_.record_poll(gap, n);
    take_all(n, arrived);
    return true;
  }

  [[nodiscard]] ReceiverReport report() const {
    auto report = recorder_.report();
    report.connections = connections_.tally();
    for (std::size_t kind = 0; kind < 2; ++kind) {
      report.kinds[kind].hop_limits = check_.hop_limits()[kind];
    }
    return report;
  }
  // Returns the report as it grows, without the connections and the hop limits, and not as a copy,
  // which is of 1.7 MB.
  [[nodiscard]] const ReceiverReport& so_far() const { return recorder_.report(); }
  [[nodiscard]] std::uint64_t progress() const { return progress_.load(std::memory_order_relaxed); }

 private:
  static constexpr unsigned kMaxReceive = flow::kMaxLot;
  static constexpr unsigned kAhead = 4;
  static constexpr Ticks kLooks = 64;  // checks for loss within the time `early_end`

  void empty_at(Ticks now) {
    looked_ = now;
    found_ = 0;
    waiting_ = 0;
  }

  // Checks whether the ring may have been full: more frames than it holds had been sent and had not
  // arrived, and at least half as many as it holds were found since it was last empty. Neither this
  // nor `long_absence` depends on the stream's rate, because a sender that catches up and a gateway
  // that empties a queue are faster (docs/decisions/0022).
  [[gnu::noinline]] void look_for_overrun() {
    if (setup_.sent == nullptr) return;
    const auto sent = setup_.sent->total();
    const auto came = std::max(window_->end(), strayed_);
    waiting_ = std::max(waiting_, sent > came ? sent - came : 0);
    if (waiting_ <= setup_.ring_frames || found_ < setup_.ring_frames / 2) return;
    recorder_.record_overrun(waiting_);
  }

  void take_all(unsigned n, Ticks arrived) {
    for (unsigned i = 0; i < std::min(n, kAhead); ++i) Queue::prefetch(frames_[i]);
    unsigned kept = 0;
    for (unsigned i = 0; i < n; ++i) {
      if (i + kAhead < n) Queue::prefetch(frames_[i + kAhead]);
      const auto frame = frames_[i];
      const auto claimed = layouts_.claim(Queue::data(frame), Queue::length(frame), setup_.tag);
      if (claimed.layout != nullptr && plan_ != nullptr) [[likely]] {
        sort(claimed);
      } else if (stranger(claimed)) {
        queue_->defer(frame);
        continue;
      }
      frames_[kept++] = frame;
    }
    if (stamped_) [[unlikely]]
      read_stamps(arrived);
    for (std::size_t kind = 0; kind < 2; ++kind) {
      if (lots_[kind].size > 0) take(static_cast<spec::Kind>(kind), arrived);
    }
    queue_->release(frames_.data(), kept);
    progress_.store(recorder_.received(), std::memory_order_relaxed);
  }

  void sort(const frame::Claimed& claimed) {
    const auto stream = claimed.stamp.stream();
    if (stream.probe()) [[unlikely]]
      return;  // a probe frame that arrived after the end of the warm-up
    lots_[static_cast<std::size_t>(stream.kind())].add(claimed);
  }

  // Reads the port's time stamps of the frames in the lots. The lots hold some of the frames of
  // this poll, in the same order.
  [[gnu::noinline]] void read_stamps(Ticks arrived) {
    for (std::size_t kind = 0; kind < 2; ++kind) {
      const auto& lot = lots_[kind];
      for (unsigned i = 0, at = 0; i < lot.size; ++at) {
        if (Queue::data(frames_[at]) != lot.frames[i]) continue;
        waited_[kind][i++] = queue_->waited(frames_[at], arrived);
      }
    }
  }

  void take(spec::Kind kind, Ticks arrived) {
    auto& lot = lots_[static_cast<std::size_t>(kind)];
    const auto& waited = waited_[static_cast<std::size_t>(kind)];
    const auto [right, without_checksum] = check_.judge(kind, lot, accepted_.numbers);
    const auto all = ~0U >> (32 - lot.size);
    accepted_.size = 0;
    accepted_.without_checksum = without_checksum;
    const auto fresh = right == all ? mark(lot.size, all) : 0;
    if (fresh == all) [[likely]] {
      for (unsigned i = 0; i < lot.size; ++i) accepted_.lateness[i] = lot.stamps.at(i).lateness();
      if (stamped_) [[unlikely]]
        accepted_.waits = waited;
      accepted_.size = lot.size;
      if constexpr (kShape.connected) learn(kind, lot, all);
    } else {
      std::uint32_t accepted = 0;
      accepted_.without_checksum = 0;
      for (unsigned i = 0; i < lot.size; ++i) {
        const auto known = (right >> i & 1U) != 0 || look_again(lot.at(i));
        if (!known) continue;
        const bool is_new = (fresh >> i & 1U) != 0;
        if (!accept(kind, lot.stamps.at(i), is_new, {.polled = arrived, .waited = waited[i]}))
          continue;
        accepted_.without_checksum |= (without_checksum >> i & 1U) << (accepted_.size - 1);
        accepted |= 1U << i;
      }
      if constexpr (kShape.connected) learn(kind, lot, accepted);
    }
    if (accepted_.size > 0) recorder_.record(kind, accepted_, arrived);
    lot.size = 0;
  }

  // Records the connections of the accepted frames of a lot; accepted: one bit per frame.
  void learn(spec::Kind kind, const frame::ArrivalLot& lot, std::uint32_t accepted) {
    const auto& plan = plan_->kind(kind);
    if (!plan.connections || accepted == 0) return;
    connections_.record(*plan.connections, lot, accepted, plan_->schedule.frames());
  }

  // Marks the numbers of a lot. Returns one bit for each that is new.
  [[nodiscard]] std::uint32_t mark(unsigned n, std::uint32_t all) {
    if (in_sequence(n) && window_->mark_next(accepted_.numbers[0], n)) return all;
    return window_->mark_lot(accepted_.numbers.data(), n);
  }

  [[nodiscard]] bool in_sequence(unsigned n) const {
    bool follows = true;
    for (unsigned i = 1; i < n; ++i) {
      follows &= accepted_.numbers[i] == accepted_.numbers[0] + i;
    }
    return follows;
  }

  // Checks a frame that did not match, one check after the other, and counts its defect. Returns
  // true if it has none, which is the case for the frame that the hop limit is learned from.
  [[nodiscard, gnu::noinline]] bool look_again(const frame::Claimed& claimed) {
    const auto defect = check_.defect_of(claimed);
    if (defect == frame::Defect::kNone) return true;
    const auto stream = claimed.stamp.stream();
    if (defect == frame::Defect::kNumber && check_.straggles(stream)) {
      recorder_.count_straggler(stream);
      return false;
    }
    note_stray(claimed.stamp);
    recorder_.count_defect(claimed, defect);
    if constexpr (kShape.connected) {
      const auto& plan = plan_->kind(stream.kind());
      const bool strayed = defect == frame::Defect::kAddress || defect == frame::Defect::kPort;
      if (strayed && plan.connections && plan.connections->responds()) {
        connections_.template judge_reply<kShape>(plan, claimed);
      }
    }
    return false;
  }

  // Notes the number of a defective frame, which no longer waits in the ring. Ignores numbers that
  // have not been sent: they are corrupt.
  void note_stray(const frame::Stamp& stamp) {
    if (setup_.sent == nullptr || stamp.number() >= setup_.sent->total()) return;
    if (stamp.stream() != plan_->stream.with(stamp.stream().kind())) return;
    strayed_ = std::max(strayed_, stamp.number() + 1);
  }

  struct Arrived {
    Ticks polled;
    Ticks waited;
  };
  // Accepts a correct frame and returns true if it is the first one with its number. is_new: its
  // number has been marked, and was new.
  bool accept(spec::Kind kind, const frame::Stamp& stamp, bool is_new, const Arrived& arrived) {
    const auto mark = is_new ? Window::Mark::kNew : window_->mark(stamp.number());
    if (mark == Window::Mark::kNew) {
      accepted_.add(stamp, arrived.waited);
      return true;
    }
    const bool again = mark == Window::Mark::kDuplicate;
    recorder_.count_odd(kind, again ? FrameStatus::kDuplicate : FrameStatus::kLate, stamp,
                        arrived.polled - arrived.waited);
    return false;
  }

  [[gnu::noinline]] void look_for_loss(Ticks now) {
    next_look_ = now + setup_.early_end / kLooks + 1;
    if (plan_ == nullptr) return;
    const auto oldest = setup_.arrivals->first_missing();
    if (oldest >= plan_->schedule.frames()) return;
    if (setup_.sent != nullptr && !setup_.sent->has_left(oldest)) return;  // its sender is late
    const auto left = start_ + plan_->schedule.due(oldest) + setup_.control->paused();
    if (now > left && now - left > setup_.early_end) setup_.control->end_early(now);
  }

  // Counts a frame that is not of this trial. Returns true if it is for the neighbour responder.
  [[gnu::noinline]] bool stranger(const frame::Claimed& claimed) {
    if (frame::concerns_neighbours(claimed.frame, claimed.size)) {
      recorder_.count_neighbour();
      return true;
    }
    recorder_.count_foreign(claimed);
    return false;
  }

  const StreamPlan* plan_;
  Queue* queue_;
  ReceiverSetup setup_;
  frame::Layouts layouts_;
  Window* window_;
  FrameCheck<kShape> check_;
  std::array<typename Queue::Frame, kMaxReceive> frames_{};
  std::array<frame::ArrivalLot, 2> lots_{};  // by kind
  bool stamped_;                             // whether the port time-stamps arrivals
  // From the port's time stamp to the poll, by kind, in the order of lots_; 0 without a stamp.
  std::array<std::array<Ticks, kMaxReceive>, 2> waited_{};
  AcceptedLot accepted_;  // of the current lot
  Ticks start_ = 0;
  Ticks stepped_ = 0;
  Ticks looked_ = 0;           // the last time at which the ring was known to be empty
  std::uint64_t found_ = 0;    // frames since looked_
  std::uint64_t waiting_ = 0;  // the most frames that may have been in the ring since looked_
  std::uint64_t strayed_ = 0;  // highest number of a defective frame, plus 1
  Ticks next_look_ = kNever;
  ConnectionRecorder connections_;
  ArrivalRecorder recorder_;
  alignas(64) std::atomic<std::uint64_t> progress_{0};
};

}  // namespace natxy::run
