// Receives what arrives at one port, holds each frame against its number, and records: the hot
// loop of arrival.
//
// Queue: see port/rx_queue.hpp; Clock: see clock.hpp. Touched by its worker alone, but for
// progress().
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "run/clock.hpp"
#include "run/histogram.hpp"
#include "run/stream_plan.hpp"
#include "run/window.hpp"

namespace natxy::run {

struct KindTally {
  std::uint64_t received = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t late = 0;
  std::uint64_t negative_delays = 0;
  std::array<std::uint64_t, 8> defects{};  // by frame::Defect
  std::uint8_t hop_limit = 0;              // what arrivals must have; 0: the first one tells
  Histogram<10> delay;                     // 0.1 % (measurements: PDV's error)
};

struct FaultExample {
  frame::Defect defect;
  std::vector<std::uint8_t> octets;
};

struct ReceiverReport {
  std::array<KindTally, 2> kinds;
  std::uint64_t foreign = 0;
  std::uint64_t neighbour = 0;
  Ticks worst_poll_gap = 0;  // before a poll that found frames
  std::vector<FaultExample> examples;
};

struct ReceiverSetup {
  std::uint32_t tag = 0;
  Ticks frame_timeout = kNever;
  std::uint64_t window = 0;           // numbers; see Window
  unsigned senders = 1;               // order is judged within each one's share
  std::array<std::uint8_t, 2> hop_limits{};
};

template <flow::Shape kShape, class Clock, class Queue>
class Receiver {
 public:
  // plan: the stream that arrives here; null: nothing is due on this port.
  Receiver(const StreamPlan* plan, const ReceiverSetup& setup, Queue& queue)
      : plan_(plan),
        queue_(&queue),
        setup_(setup),
        window_(setup.window),
        by_senders_(setup.senders),
        expected_(setup.senders, 0) {
    for (std::size_t kind = 0; kind < 2; ++kind) {
      report_.kinds[kind].hop_limit = setup.hop_limits[kind];
    }
    report_.examples.reserve(kMaxExamples);
  }

  void begin(Ticks start) {
    start_ = start;
    last_poll_ = start;
  }

  void step(Ticks now) {
    const auto n = queue_->receive(frames_.data(), kMaxReceive);
    const auto gap = now - last_poll_;
    last_poll_ = now;
    if (n == 0) return;
    if (now > start_) report_.worst_poll_gap = std::max(report_.worst_poll_gap, gap);
    take_all(n, Clock::now());
  }

  [[nodiscard]] const ReceiverReport& report() const { return report_; }
  [[nodiscard]] std::uint64_t progress() const { return progress_.load(std::memory_order_relaxed); }

 private:
  static constexpr unsigned kMaxReceive = 32;
  static constexpr unsigned kAhead = 4;
  static constexpr std::size_t kMaxExamples = 8;

  void take_all(unsigned n, Ticks arrived) {
    for (unsigned i = 0; i < std::min(n, kAhead); ++i) Queue::prefetch(frames_[i]);
    unsigned kept = 0;
    for (unsigned i = 0; i < n; ++i) {
      if (i + kAhead < n) Queue::prefetch(frames_[i + kAhead]);
      const auto frame = frames_[i];
      const auto claimed = frame::claim(Queue::data(frame), Queue::length(frame), setup_.tag);
      if (claimed.layout != nullptr && plan_ != nullptr) [[likely]] {
        take(claimed, arrived);
      } else if (stranger(claimed)) {
        queue_->defer(frame);
        continue;
      }
      frames_[kept++] = frame;
    }
    queue_->release(frames_.data(), kept);
    progress_.store(report_.kinds[0].received + report_.kinds[1].received,
                    std::memory_order_relaxed);
  }

  void take(const frame::Claimed& claimed, Ticks arrived) {
    const auto& stamp = claimed.stamp;
    if (stamp.stream().probe()) [[unlikely]] return;  // of the warm-up, on its way when it ended
    auto& tally = report_.kinds[static_cast<std::size_t>(stamp.stream().kind())];
    const auto defect = judge(claimed, tally);
    if (defect != frame::Defect::kNone) [[unlikely]] return note(claimed, defect, tally);
    record(stamp, arrived, tally);
  }

  [[nodiscard]] frame::Defect judge(const frame::Claimed& claimed, KindTally& tally) const {
    if (!frame::well_formed(claimed)) return frame::Defect::kMalformed;
    if (!frame::checksums_right(claimed)) return frame::Defect::kChecksum;
    const auto& stamp = claimed.stamp;
    const auto number = stamp.number();
    if (number >= plan_->schedule.frames()) return frame::Defect::kNumber;
    const auto place = plan_->mix.at(number);
    if (stamp.stream() != plan_->stream.with(place.kind)) return frame::Defect::kNumber;
    const auto& kind = plan_->kind(place.kind);
    if (tally.hop_limit == 0) [[unlikely]] {
      tally.hop_limit = claimed.frame[claimed.layout->hop_limit];
    }
    return kind.arrival.template check<kShape>(
        claimed, kind.flow.template at<kShape>(place.ordinal), tally.hop_limit);
  }

  void record(const frame::Stamp& stamp, Ticks arrived, KindTally& tally) {
    const auto number = stamp.number();
    const auto mark = window_.mark(number);
    if (mark == Window::Mark::kDuplicate) [[unlikely]] {
      ++tally.duplicated;
      return;
    }
    const auto departed = start_ + plan_->schedule.due(number) + stamp.lateness();
    const auto delay = arrived > departed ? arrived - departed : 0;
    tally.negative_delays += arrived < departed ? 1 : 0;
    if (mark == Window::Mark::kTooOld || delay > setup_.frame_timeout) [[unlikely]] {
      ++tally.late;
      return;
    }
    ++tally.received;
    tally.delay.record(delay);
    judge_order(number, tally);
  }

  // RFC 4737 3.3: a frame is reordered if its number is smaller than the next one expected.
  void judge_order(std::uint64_t number, KindTally& tally) {
    auto& expected = expected_[by_senders_.divide(number).remainder];
    if (number < expected) [[unlikely]] {
      ++tally.reordered;
    } else {
      expected = number + 1;
    }
  }

  [[gnu::noinline]] void note(const frame::Claimed& claimed, frame::Defect defect,
                              KindTally& tally) {
    ++tally.defects[static_cast<std::size_t>(defect)];
    if (report_.examples.size() == kMaxExamples) return;
    const auto size = std::min<std::size_t>(claimed.size, 128);
    report_.examples.push_back({.defect = defect, .octets = {claimed.frame, claimed.frame + size}});
  }

  // Counts a frame that is not of this trial; true if it is for the neighbour responder.
  [[gnu::noinline]] bool stranger(const frame::Claimed& claimed) {
    if (frame::concerns_neighbours(claimed.frame, claimed.size)) {
      ++report_.neighbour;
      return true;
    }
    ++report_.foreign;
    return false;
  }

  const StreamPlan* plan_;
  Queue* queue_;
  ReceiverSetup setup_;
  Window window_;
  flow::Divider by_senders_;
  std::vector<std::uint64_t> expected_;
  std::array<typename Queue::Frame, kMaxReceive> frames_{};
  Ticks start_ = 0;
  Ticks last_poll_ = 0;
  ReceiverReport report_;
  alignas(64) std::atomic<std::uint64_t> progress_{0};
};

}  // namespace natxy::run
