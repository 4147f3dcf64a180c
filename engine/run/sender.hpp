// Sends its share of the frames of one stream, each when it is due: the hot loop of departures.
//
// For Queue see port/tx_queue.hpp, for Clock see clock.hpp. Only the sender's worker may call its
// functions, except progress().
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "run/clock.hpp"
#include "run/control.hpp"
#include "run/histogram.hpp"
#include "run/stamp_bases.hpp"
#include "run/stream_plan.hpp"
#include "run/tag_plan.hpp"

namespace natxy::run {

inline constexpr unsigned kMaxBurst = flow::kMaxLot;

struct Share {  // this sender's numbers: index, index + count, ...
  unsigned index = 0;
  unsigned count = 1;
};

// Why a sender stopped before its last frame.
enum class GaveUp : std::uint8_t {
  kNo,
  kBehind,   // the sender was kept from its core, or is too slow
  kRefused,  // the port did not accept frames
};

struct SenderReport {
  std::array<std::uint64_t, 2> sent{};  // by kind
  std::uint64_t refused_by_gateway = 0;
  std::uint64_t refused_by_port = 0;
  std::uint64_t largest_burst = 0;  // most frames that left without a wait for a due time
  std::uint64_t pauses = 0;
  Ticks paused = 0;  // total of all pauses
  Ticks longest_pause = 0;
  Ticks first_departure = kNever;
  Ticks last_departure = 0;
  GaveUp gave_up = GaveUp::kNo;
  Ticks behind = 0;  // how late the next frame was when the sender gave up
  Histogram<5> lateness;
  Histogram<5> send_call;
  Histogram<1> step_gap;      // per frame: time until the sender's next step, by when it has left
  Histogram<1> tag_step_gap;  // the same per tagged frame
};

// A sender that must not pause gives up when it is behind by more than this, because the lateness
// in a stamp has 32 bits. A sender that may pause gives up when the port has accepted nothing for
// this long, or when its pauses exceed half of the elapsed time by this much; otherwise the trial
// might never end.
inline constexpr Ticks kGiveUp = StampBases::kStep;

// How a sender that is behind catches up.
struct Catching {
  Ticks limit = kNever;  // the sender pauses if it is further behind; kNever: it must not pause
  Ticks give_up = kGiveUp;
};

template <flow::Shape kShape, class Clock, class Queue>
class Sender {
 public:
  Sender(const StreamPlan& plan, Share share, Queue& queue, Control& control,
         Catching catching = {}, const std::optional<TagPlan>& tags = std::nullopt)
      : plan_(&plan),
        queue_(&queue),
        control_(&control),
        tags_(tags),
        catching_(catching),
        limit_(std::min(catching.limit, catching.give_up)),
        cursor_(plan.schedule, share.index, share.count) {
    const auto& connections = plan.kind(spec::Kind::kForeground).connections;
    if (connections) walk_ = ConnectionWalk(connections->walk, share.index, share.count);
  }

  void begin(Ticks start) {
    start_ = begun_ = start;
    set_due(start);
  }

  // Sends the frames that are due. Flattened: with all shapes in one program, the compiler does not
  // inline everything, which costs a third where addresses vary or four-tuples are enumerated
  // (docs/performance.md).
  [[gnu::flatten]] void step(Ticks now) {
    if (left_ != 0) {  // the frames of the previous step have left by now
      report_.step_gap.record(now - stepped_, left_);
      if (tags_left_ != 0) [[unlikely]]
        report_.tag_step_gap.record(now - stepped_, tags_left_);
      left_ = tags_left_ = 0;
    }
    if (now < due_) return;
    if (now - due_ > limit_ && !catches_up(now)) [[unlikely]]
      return;
    auto after = cursor_;
    const auto size = collect(after, now - start_);
    if (!prepare(size)) [[unlikely]] {  // the pool is empty: the port still holds its frames
      report_.refused_by_port += size;
      refused_at_ = calls_;
      return;
    }
    auto offered = send(size);
    if (offered == size) [[likely]] {
      cursor_ = after;
    } else {
      offered = refused(size, offered, after);
    }
    account(offered, now);
  }

  [[nodiscard]] const SenderReport& report() const { return report_; }
  [[nodiscard]] const std::atomic<std::uint64_t>& sent() const { return progress_; }
  [[nodiscard]] const StampBases& bases() const { return bases_; }
  [[nodiscard]] std::uint64_t progress() const { return progress_.load(std::memory_order_relaxed); }

 private:
  // Frames of one kind: their numbers, ordinals, lateness and buffers.
  struct Lot {
    unsigned size = 0;
    std::array<std::uint64_t, kMaxBurst> numbers;
    std::array<std::uint64_t, kMaxBurst> ordinals;
    std::array<std::uint32_t, kMaxBurst> lateness;
    std::array<typename Queue::Frame, kMaxBurst> frames;
  };

  // Handles a sender that is behind by more than its limit: it pauses or gives up. Returns false if
  // it has given up.
  [[nodiscard, gnu::noinline]] bool catches_up(Ticks now) {
    const bool refused = refused_at_ == calls_;  // in the previous step
    const auto late = now - due_;
    const auto left = report_.sent[0] + report_.sent[1];
    stuck_ = left == left_when_behind_ ? stuck_ + late : late;  // since a frame last left
    left_when_behind_ = left;
    const bool stalled = refused && stuck_ > catching_.give_up;
    if (catching_.limit == kNever || stalled) {
      give_up(now, refused);
      return false;
    }
    pause(now);
    if (report_.paused <= (now - begun_) / 2 ||
        report_.paused - (now - begun_) / 2 <= catching_.give_up) {
      return true;
    }
    give_up(now, refused);
    return false;
  }

  // Moves the rest of the schedule by the sender's lateness, so that the rate is never exceeded.
  // The stamps still tell the lateness by the original schedule.
  void pause(Ticks now) {
    const auto late = now - due_;
    start_ += late;
    due_ = now;
    ++report_.pauses;
    report_.paused += late;
    report_.longest_pause = std::max(report_.longest_pause, late);
    control_->note_pause(report_.paused);
    if (report_.paused - base_ >= StampBases::kStep) {
      base_ = report_.paused / StampBases::kStep * StampBases::kStep;
      bases_.set(cursor_.number(), base_);
    }
    end_run();
  }

  void end_run() {
    report_.largest_burst = std::max(report_.largest_burst, run_);
    run_ = 0;
  }

  // Collects the frames that are due: fills numbers_, lateness_ and stamped_. Returns their count.
  [[nodiscard]] unsigned collect(Cursor& after, Ticks elapsed) {
    auto cursor = after;                         // a local copy, which no store can alias
    const auto beyond = report_.paused - base_;  // see StampBases
    unsigned size = 0;
    do {
      const auto late = elapsed - cursor.due();
      numbers_[size] = cursor.number();
      lateness_[size] = static_cast<std::uint32_t>(std::min<Ticks>(late, ~0U));
      stamped_[size++] = static_cast<std::uint32_t>(std::min<Ticks>(late + beyond, ~0U));
      cursor.advance();
    } while (size < kMaxBurst && cursor.due() <= elapsed);
    after = cursor;
    return size;
  }

  // Fills frames_[0..size). Returns false if there are not enough buffers.
  [[nodiscard]] bool prepare(unsigned size) {
    if (plan_->mix.mixed()) return prepare_mixed(size);
    const auto kind = plan_->mix.only();
    if (!queue_->allocate(static_cast<unsigned>(kind), frames_.data(), size)) return false;
    patch(kind, numbers_.data(), numbers_.data(), stamped_.data(), frames_.data(), size);
    return true;
  }

  [[nodiscard]] bool prepare_mixed(unsigned size) {
    std::array<Lot, 2> lots;
    std::array<std::uint8_t, kMaxBurst> kinds;
    for (unsigned i = 0; i < size; ++i) {
      const auto place = plan_->mix.at(numbers_[i]);
      kinds[i] = static_cast<std::uint8_t>(place.kind);
      auto& lot = lots[kinds[i]];
      lot.numbers[lot.size] = numbers_[i];
      lot.ordinals[lot.size] = place.ordinal;
      lot.lateness[lot.size++] = stamped_[i];
    }
    auto& [foreground, background] = lots;
    if (!queue_->allocate(0, foreground.frames.data(), foreground.size)) return false;
    if (!queue_->allocate(1, background.frames.data(), background.size)) {
      queue_->release(foreground.frames.data(), foreground.size);
      return false;
    }
    for (unsigned kind = 0; kind < 2; ++kind) {
      auto& lot = lots[kind];
      patch(static_cast<spec::Kind>(kind), lot.numbers.data(), lot.ordinals.data(),
            lot.lateness.data(), lot.frames.data(), lot.size);
    }
    std::array<unsigned, 2> next{};
    for (unsigned i = 0; i < size; ++i) frames_[i] = lots[kinds[i]].frames[next[kinds[i]]++];
    return true;
  }

  void patch(spec::Kind kind, const std::uint64_t* numbers, const std::uint64_t* ordinals,
             const std::uint32_t* lateness, const typename Queue::Frame* frames, unsigned n) {
    const auto& plan = plan_->kind(kind);
    if constexpr (kShape.connected) {
      if (plan.connections) return patch_connected(plan, numbers, ordinals, lateness, frames, n);
    }
    flow::ValueLot values;
    plan.flow.template fill<kShape>(ordinals, n, values);
    frame::StampLot stamps;
    stamps.fill(plan_->tag, plan_->stream.with(kind), numbers, lateness, n);
    if (plan.departure.avoids_zero_checksum()) {
      plan.departure.template avoid_zero_checksum<kShape>(values, stamps, n);
    }
    put(plan, values, stamps, nullptr, frames, n);
  }

  // Patches frames of connections: the next ones of the walk, or those that the ordinals establish.
  void patch_connected(const KindPlan& plan, const std::uint64_t* numbers,
                       const std::uint64_t* ordinals, const std::uint32_t* lateness,
                       const typename Queue::Frame* frames, unsigned n) {
    const auto& use = *plan.connections;
    std::array<std::uint64_t, kMaxBurst> connections;
    if (use.role == spec::Role::kEstablish) {
      for (unsigned i = 0; i < n; ++i) connections[i] = use.established_by(ordinals[i]);
    } else {
      walk_.take(connections.data(), n);
    }
    flow::ValueLot values;
    plan.flow.template fill<kShape>(connections.data(), n, values);
    if (use.responds()) values.swap_ends();
    frame::StampLot stamps;
    stamps.fill(plan_->tag, plan_->stream.with(spec::Kind::kForeground), numbers, lateness, n);
    stamps.set_connections(connections.data(), n);
    if (plan.departure.avoids_zero_checksum()) {
      plan.departure.template avoid_zero_checksum<kShape>(values, stamps, n);
    }
    if (!use.responds()) return put(plan, values, stamps, nullptr, frames, n);
    frame::LearnedLot learned;
    look_up(*use.table, connections.data(), n, values, learned);
    put(plan, values, stamps, &learned, frames, n);
  }

  // Looks up the external address and port of each connection.
  static void look_up(const StateTable& table, const std::uint64_t* connections, unsigned n,
                      flow::ValueLot& values, frame::LearnedLot& learned) {
    for (unsigned i = 0; i < n; ++i) table.prefetch(connections[i]);
    const bool ipv6 = table.addresses().prepared();
    for (unsigned i = 0; i < n; ++i) {
      const auto entry = table.at(connections[i]);
      values.destination_port[i] = entry.port();
      learned.ipv4[i] = entry.address();
      learned.ipv6[i] = ipv6 ? table.addresses().at(entry.address()).data() : nullptr;
    }
  }

  void put(const KindPlan& plan, const flow::ValueLot& values, const frame::StampLot& stamps,
           const frame::LearnedLot* learned, const typename Queue::Frame* frames, unsigned n) {
    std::array<std::uint8_t*, kMaxBurst> octets;
    for (unsigned i = 0; i < n; ++i) octets[i] = Queue::data(frames[i]);
    plan.departure.template patch<kShape>(octets.data(), n, values, stamps, learned);
  }

  // Sends the frames. Samples the duration of the call, which is a part of each delay. Returns how
  // many frames the port accepted.
  [[nodiscard]] unsigned send(unsigned size) {
    if (calls_++ % kSampleEvery != 0) return queue_->send(frames_.data(), size);
    const auto before = Clock::now();
    const auto accepted = queue_->send(frames_.data(), size);
    report_.send_call.record(Clock::now() - before);
    return accepted;
  }

  // Handles frames that were refused. Those that a gateway's full ring refused are lost; those that
  // the tester's port refused are sent again later. Returns how many frames count as offered.
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
    refused_at_ = calls_;
    for (unsigned i = 0; i < accepted; ++i) cursor_.advance();
    if constexpr (kShape.connected) keep_places(accepted, rest);
    return accepted;
  }

  // Moves the walk back to after the last connection whose frame left.
  void keep_places(unsigned accepted, unsigned rest) {
    const auto foreground = [this](unsigned from, unsigned frames) {
      unsigned count = 0;
      for (unsigned i = from; i < from + frames; ++i) {
        count += plan_->mix.at(numbers_[i]).kind == spec::Kind::kForeground;
      }
      return count;
    };
    walk_.keep(foreground(0, accepted), foreground(accepted, rest));
  }

  void account(unsigned offered, Ticks now) {
    if (offered == 0) return;
    report_.lateness.record(lateness_.data(), offered);
    count_kinds(offered);
    if (report_.first_departure == kNever) report_.first_departure = now;
    report_.last_departure = now;
    run_ += offered;
    left_ = offered;
    if (tags_) [[unlikely]]
      tags_left_ = tags_among(offered);
    stepped_ = now;
    progress_.store(report_.sent[0] + report_.sent[1], std::memory_order_relaxed);
    set_due(now);
    if (due_ > now) end_run();
  }

  [[nodiscard, gnu::noinline]] unsigned tags_among(unsigned offered) const {
    unsigned tagged = 0;
    for (unsigned i = 0; i < offered; ++i) tagged += tags_->holds(numbers_[i]) ? 1 : 0;
    return tagged;
  }

  void count_kinds(unsigned offered) {
    if (!plan_->mix.mixed()) {
      report_.sent[static_cast<std::size_t>(plan_->mix.only())] += offered;
      return;
    }
    for (unsigned i = 0; i < offered; ++i) {
      ++report_.sent[static_cast<std::size_t>(plan_->mix.at(numbers_[i]).kind)];
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

  void give_up(Ticks now, bool refused) {
    report_.gave_up = refused ? GaveUp::kRefused : GaveUp::kBehind;
    report_.behind = now - due_;
    due_ = kNever;
    control_->sender_done(now);
  }

  static constexpr unsigned kSampleEvery = 16;

  const StreamPlan* plan_;
  Queue* queue_;
  Control* control_;
  std::optional<TagPlan> tags_;
  Ticks start_ = 0;  // moved by every pause
  Ticks begun_ = 0;
  Catching catching_;
  Ticks limit_;  // if it is further behind, the sender pauses or gives up
  Cursor cursor_;
  ConnectionWalk walk_;  // used by streams that use connections
  Ticks due_ = kNever;
  Ticks base_ = 0;  // the current base of the stamps
  std::uint64_t calls_ = 0;
  std::uint64_t refused_at_ = ~std::uint64_t{0};  // calls_ when the port last refused a frame
  Ticks stuck_ = 0;                               // total time behind since a frame last left
  std::uint64_t left_when_behind_ = 0;
  std::uint64_t run_ = 0;   // frames since the sender last had to wait
  unsigned left_ = 0;       // frames of the last step
  unsigned tags_left_ = 0;  // tagged frames among these
  Ticks stepped_ = 0;       // time of the last step
  std::array<std::uint64_t, kMaxBurst> numbers_{};
  std::array<std::uint32_t, kMaxBurst> lateness_{};  // by the current schedule
  std::array<std::uint32_t, kMaxBurst> stamped_{};   // by the original schedule
  std::array<typename Queue::Frame, kMaxBurst> frames_{};
  SenderReport report_;
  StampBases bases_;
  alignas(64) std::atomic<std::uint64_t> progress_{0};
};

}  // namespace natxy::run
