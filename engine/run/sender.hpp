// Sends its share of one stream's frames, each when it is due: the hot loop of departure.
//
// Queue: see port/tx_queue.hpp; Clock: see clock.hpp. Touched by its worker alone, but for
// progress().
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "run/clock.hpp"
#include "run/control.hpp"
#include "run/histogram.hpp"
#include "run/stream_plan.hpp"

namespace natxy::run {

inline constexpr unsigned kMaxBurst = 32;

struct Share {  // this sender's numbers: index, index + count, ...
  unsigned index = 0;
  unsigned count = 1;
};

struct SenderReport {
  std::array<std::uint64_t, 2> sent{};  // by kind
  std::uint64_t refused_by_gateway = 0;
  std::uint64_t refused_by_port = 0;
  std::uint32_t largest_burst = 0;
  Ticks first_departure = kNever;
  Ticks last_departure = 0;
  bool gave_up = false;
  Histogram<5> lateness;
  Histogram<5> send_call;
};

// A sender that is behind by more gives up: the port is stalled, and a stamp's lateness has 32 bits.
inline constexpr Ticks kGiveUp = Ticks{1} << 31U;

template <flow::Shape kShape, class Clock, class Queue>
class Sender {
 public:
  Sender(const StreamPlan& plan, Share share, Queue& queue, Control& control,
         Ticks give_up_after = kGiveUp)
      : plan_(&plan),
        queue_(&queue),
        control_(&control),
        give_up_after_(give_up_after),
        cursor_(plan.schedule, share.index, share.count),
        stride_(share.count) {}

  void begin(Ticks start) {
    start_ = start;
    set_due(start);
  }

  void step(Ticks now) {
    if (now < due_) return;
    if (now - due_ > give_up_after_) [[unlikely]] return give_up(now);
    auto after = cursor_;
    const auto batch = collect(after, now - start_);
    const auto prepared = plan_->mix.mixed() ? prepare_mixed(batch) : prepare_uniform(batch);
    if (!prepared) [[unlikely]] {  // the pool is empty: the port has not sent what it took
      report_.refused_by_port += batch.size;
      return;
    }
    auto offered = send(batch.size);
    if (offered == batch.size) [[likely]] {
      cursor_ = after;
    } else {
      offered = refused(batch.size, offered, after);
    }
    account(batch, offered, now);
  }

  [[nodiscard]] const SenderReport& report() const { return report_; }
  [[nodiscard]] std::uint64_t progress() const { return progress_.load(std::memory_order_relaxed); }

 private:
  struct Batch {
    unsigned size = 0;
    std::uint64_t first = 0;  // number; the others follow at the stride
    std::array<std::uint32_t, kMaxBurst> lateness;
  };

  [[nodiscard]] Batch collect(Cursor& cursor, Ticks elapsed) const {
    Batch batch;
    batch.first = cursor.number();
    do {
      const auto late = elapsed - cursor.due();
      batch.lateness[batch.size++] = static_cast<std::uint32_t>(std::min<Ticks>(late, ~0U));
      cursor.advance();
    } while (batch.size < kMaxBurst && cursor.due() <= elapsed);
    return batch;
  }

  void patch(typename Queue::Frame frame, Place place, std::uint64_t number,
             std::uint32_t lateness) {
    const auto& kind = plan_->kind(place.kind);
    const auto stamp = frame::Stamp::make(plan_->tag, plan_->stream.with(place.kind), number,
                                          kNoConnection, lateness);
    kind.departure.template patch<kShape>(Queue::data(frame),
                                          kind.flow.template at<kShape>(place.ordinal), stamp);
  }

  [[nodiscard]] bool prepare_uniform(const Batch& batch) {
    const auto kind = plan_->mix.only();
    if (!queue_->allocate(static_cast<unsigned>(kind), frames_.data(), batch.size)) return false;
    auto number = batch.first;
    for (unsigned i = 0; i < batch.size; ++i, number += stride_) {
      patch(frames_[i], {kind, number}, number, batch.lateness[i]);
    }
    return true;
  }

  [[nodiscard]] bool prepare_mixed(const Batch& batch) {
    std::array<Place, kMaxBurst> places;
    unsigned foreground = 0;
    for (unsigned i = 0; i < batch.size; ++i) {
      places[i] = plan_->mix.at(batch.first + i * stride_);
      foreground += places[i].kind == spec::Kind::kForeground ? 1 : 0;
    }
    std::array<typename Queue::Frame, kMaxBurst> fresh;
    if (!queue_->allocate(0, fresh.data(), foreground)) return false;
    if (!queue_->allocate(1, fresh.data() + foreground, batch.size - foreground)) {
      queue_->release(fresh.data(), foreground);
      return false;
    }
    std::array<unsigned, 2> next{0, foreground};
    for (unsigned i = 0; i < batch.size; ++i) {
      frames_[i] = fresh[next[static_cast<std::size_t>(places[i].kind)]++];
      patch(frames_[i], places[i], batch.first + i * stride_, batch.lateness[i]);
    }
    return true;
  }

  // The call's duration is sampled: it bounds what a delay holds in excess (docs/decisions).
  [[nodiscard]] unsigned send(unsigned size) {
    if (calls_++ % kSampleEvery != 0) return queue_->send(frames_.data(), size);
    const auto before = Clock::now();
    const auto accepted = queue_->send(frames_.data(), size);
    report_.send_call.record(Clock::now() - before);
    return accepted;
  }

  // A gateway whose ring is full has lost the rest; a port of the tester's is asked again later.
  // Returns how many frames count as offered.
  [[nodiscard, gnu::noinline]] unsigned refused(unsigned size, unsigned accepted,
                                                const Cursor& after) {
    const auto rest = size - accepted;
    queue_->release(frames_.data() + accepted, rest);
    if (queue_->refusal_is_gateways()) {
      report_.refused_by_gateway += rest;
      cursor_ = after;
      return size;
    }
    report_.refused_by_port += rest;
    for (unsigned i = 0; i < accepted; ++i) cursor_.advance();
    return accepted;
  }

  void account(const Batch& batch, unsigned offered, Ticks now) {
    for (unsigned i = 0; i < offered; ++i) report_.lateness.record(batch.lateness[i]);
    count_kinds(batch.first, offered);
    if (offered > 0) {
      if (report_.first_departure == kNever) report_.first_departure = now;
      report_.last_departure = now;
      report_.largest_burst = std::max(report_.largest_burst, offered);
    }
    progress_.store(report_.sent[0] + report_.sent[1], std::memory_order_relaxed);
    set_due(now);
  }

  void count_kinds(std::uint64_t number, unsigned offered) {
    if (!plan_->mix.mixed()) {
      report_.sent[static_cast<std::size_t>(plan_->mix.only())] += offered;
      return;
    }
    for (unsigned i = 0; i < offered; ++i, number += stride_) {
      ++report_.sent[static_cast<std::size_t>(plan_->mix.at(number).kind)];
    }
  }

  void set_due(Ticks now) {
    if (!cursor_.done()) [[likely]] {
      due_ = start_ + cursor_.due();
      return;
    }
    due_ = kNever;
    control_->sender_done(std::max(now, start_ + plan_->schedule.end()));
  }

  [[gnu::noinline]] void give_up(Ticks now) {
    report_.gave_up = true;
    due_ = kNever;
    control_->sender_done(now);
  }

  static constexpr std::uint32_t kNoConnection = 0;
  static constexpr unsigned kSampleEvery = 16;

  const StreamPlan* plan_;
  Queue* queue_;
  Control* control_;
  Ticks start_ = 0;
  Ticks give_up_after_;
  Cursor cursor_;
  std::uint64_t stride_;
  Ticks due_ = kNever;
  std::uint64_t calls_ = 0;
  std::array<typename Queue::Frame, kMaxBurst> frames_{};
  SenderReport report_;
  alignas(64) std::atomic<std::uint64_t> progress_{0};
};

}  // namespace natxy::run
