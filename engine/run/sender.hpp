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
#include <type_traits>

#include "run/assignment.hpp"
#include "run/clock.hpp"
#include "run/frame_source.hpp"
#include "run/schedule.hpp"
#include "run/sender_report.hpp"
#include "run/stream_plan.hpp"
#include "run/worker.hpp"

namespace natxy::run {

// A sender that must not pause gives up when it is behind by more than this, because the lateness
// in a stamp has 32 bits. A sender that may pause gives up when the port has accepted nothing for
// this long, or when its pauses exceed half of the elapsed time by this much; otherwise the trial
// might never end.
inline constexpr Ticks kGiveUp = StampBases::kStep;

// How a sender that is behind catches up.
struct Catching {
  Ticks limit = kNever;  // the sender pauses if it is further behind; kNever: it must not pause
  Ticks give_up = kGiveUp;
  Ticks late = kNever;  // numbers that leave later than this are noted
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
        late_(static_cast<std::uint32_t>(std::min<Ticks>(catching.late, ~0U))),
        stride_(share.count),
        mixed_(plan.mix.mixed()),
        only_(static_cast<std::size_t>(plan.mix.only())),
        cursor_(plan.schedule, share.index, share.count),
        source_(plan, share, queue) {
    const auto most = std::max<std::size_t>(2, spec::Runs::kMost / share.count);
    report_.late_runs = spec::Runs(most);
    if (tags) room_for(report_.tags, tags->count());  // perhaps all are of one sender
    for (auto& pauses : report_.pauses_at) pauses = spec::Runs(std::max<std::size_t>(2, most / 2));
  }

  void begin(Ticks start) {
    start_ = begun_ = start;
    set_due(start);
  }

  // Sends the frames that are due, and returns whether there were any. Flattened: with all shapes
  // in one program, the compiler does not inline everything, which costs a third where addresses
  // vary or four-tuples are enumerated (docs/performance.md).
  [[gnu::flatten]] bool step(Ticks now) {
    if (left_ != 0) {  // the frames of the previous step have left by now
      step_gaps_.record(now - report_.last_departure, left_, report_.step_gap);
      left_ = 0;
    }
    if (now < due_) return false;
    if (now - due_ > limit_ && !catches_up(now)) [[unlikely]]
      return false;
    // At most rates a burst is one frame, so this case has code of its own.
    if (cursor_.next_due() > now - start_) [[likely]] {
      leave_alone(now);
    } else {
      leave_together(now);
    }
    return true;
  }

  [[nodiscard]] SenderReport report() const {
    auto report = report_;
    lateness_seen_.add_to(report.lateness);
    step_gaps_.add_to(report.step_gap);
    return report;
  }
  [[nodiscard]] const std::atomic<std::uint64_t>& sent() const { return progress_; }
  [[nodiscard]] const StampBases& bases() const { return bases_; }
  [[nodiscard]] std::uint64_t progress() const { return progress_.load(std::memory_order_relaxed); }

 private:
  using One = std::integral_constant<unsigned, 1>;  // the loops over lots become straight code

  void leave_alone(Ticks now) {
    if (source_.is_early(cursor_.number())) [[likely]] {
      note(0, cursor_.number(), now - due_);
      leave(One(), now, [this] { return source_.prepare_early(stamped_[0], frames_[0]); });
    } else {
      leave_unprepared(now);
    }
    source_.look_ahead(cursor_.number());
  }
  [[gnu::flatten, gnu::noinline]] void leave_unprepared(Ticks now) {
    note(0, cursor_.number(), now - due_);
    leave(One(), now, [this] { return source_.prepare(burst(One()), frames_.data()); });
  }

  // Moves a copy of the cursor, which is not passed to a function that is not inlined, so that it
  // stays in registers.
  [[gnu::flatten, gnu::noinline]] void leave_together(Ticks now) {
    const auto elapsed = now - start_;
    auto after = cursor_;
    unsigned size = 0;
    do {
      note(size++, after.number(), elapsed - after.due());
      after.advance();
    } while (size < kMaxBurst && after.due() <= elapsed);
    leave(size, now, [&] { return source_.prepare(burst(size), frames_.data()); }, &after);
    source_.pass(size);
  }

  // Notes the number and the lateness of a frame that is due.
  void note(unsigned i, std::uint64_t number, Ticks late) {
    const auto beyond = report_.paused - base_;  // see StampBases
    numbers_[i] = number;
    lateness_[i] = static_cast<std::uint32_t>(std::min<Ticks>(late, ~0U));
    stamped_[i] = static_cast<std::uint32_t>(std::min<Ticks>(late + beyond, ~0U));
  }

  // Prepares, sends and counts the frames that note() has noted. Size: unsigned, or a constant.
  // prepare: returns false if there are no buffers. after: the cursor past the frames; null if it
  // is one frame.
  template <class Size, class Prepare>
  void leave(Size size, Ticks now, Prepare&& prepare, const Cursor* after = nullptr) {
    if (!prepare()) [[unlikely]] {
      // The pool is empty: the port still holds its frames.
      report_.refused_by_port += size;
      refused_at_ = calls_;
      return;
    }
    const auto accepted = send(size);
    if (accepted == size) [[likely]] {
      if (after == nullptr) {
        cursor_.advance();
      } else {
        cursor_ = *after;
      }
      account(size, now);
    } else {
      account(refused(size, accepted), now);
    }
  }

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
    pause(now, refused);
    if (report_.paused <= (now - begun_) / 2 ||
        report_.paused - (now - begun_) / 2 <= catching_.give_up) {
      return true;
    }
    give_up(now, refused);
    return false;
  }

  // Moves the rest of the schedule by the sender's lateness, so that the rate is never exceeded.
  // The stamps still tell the lateness by the original schedule.
  void pause(Ticks now, bool refused) {
    const auto late = now - due_;
    report_.pauses_at[refused ? 1 : 0].add(
        {.first = cursor_.number(), .end = cursor_.number(), .count = late});
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
    if (run_ > report_.largest_burst) [[unlikely]]
      report_.largest_burst = run_;
    run_ = 0;
  }

  [[nodiscard]] Burst burst(unsigned size) const {
    return {.size = size, .numbers = numbers_.data(), .lateness = stamped_.data()};
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
  [[nodiscard, gnu::noinline]] unsigned refused(unsigned size, unsigned accepted) {
    const auto rest = size - accepted;
    queue_->release(frames_.data() + accepted, rest);
    const bool lost = queue_->refusal_is_gateways();
    for (unsigned i = 0; i < (lost ? size : accepted); ++i) cursor_.advance();
    if (lost) {
      report_.refused_by_gateway += rest;
      return size;
    }
    report_.refused_by_port += rest;
    refused_at_ = calls_;
    if constexpr (kShape.connected) source_.keep_places(burst(size), accepted);
    return accepted;
  }

  // Size: unsigned, or a constant.
  template <class Size>
  void account(Size offered, Ticks now) {
    if (offered == 0) return;
    if (offered == 1) {
      lateness_seen_.record(lateness_[0], report_.lateness);
    } else {
      report_.lateness.record(lateness_.data(), offered);
    }
    if (lateness_[0] > late_) [[unlikely]]  // the first one is the latest
      note_late(offered);
    count_kinds(offered);
    if (report_.first_departure == kNever) report_.first_departure = now;
    report_.last_departure = now;
    run_ += offered;
    left_ = offered;
    if (tags_) [[unlikely]]
      record_tags(offered, Clock::now() - now);
    progress_.store(progress() + offered, std::memory_order_relaxed);
    set_due(now);
    if (due_ > now) end_run();
  }

  [[gnu::noinline]] void note_late(unsigned offered) {
    for (unsigned i = 0; i < offered && lateness_[i] > late_; ++i) {
      report_.late_runs.add({.first = numbers_[i], .end = numbers_[i] + stride_, .count = 1});
    }
  }

  // Records the tagged frames of a send call that has just ended.
  [[gnu::noinline]] void record_tags(unsigned offered, Ticks leaving) {
    for (unsigned i = 0; i < offered; ++i) {
      if (!tags_->holds(numbers_[i])) continue;
      report_.tags.push_back({.number = numbers_[i], .leaving = leaving});
    }
  }

  void count_kinds(unsigned offered) {
    if (!mixed_) [[likely]] {
      report_.sent[only_] += offered;
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
  std::uint32_t late_;
  unsigned stride_;  // from one number of the sender's share to the next
  bool mixed_;
  std::size_t only_;  // the kind of a stream that is not mixed
  Cursor cursor_;
  FrameSource<kShape, Queue> source_;
  Ticks due_ = kNever;
  Ticks base_ = 0;  // the current base of the stamps
  std::uint64_t calls_ = 0;
  std::uint64_t refused_at_ = ~std::uint64_t{0};  // calls_ when the port last refused a frame
  Ticks stuck_ = 0;                               // total time behind since a frame last left
  std::uint64_t left_when_behind_ = 0;
  std::uint64_t run_ = 0;  // frames since the sender last had to wait
  unsigned left_ = 0;      // frames of the last step
  std::array<std::uint64_t, kMaxBurst> numbers_{};
  std::array<std::uint32_t, kMaxBurst> lateness_{};  // by the current schedule
  std::array<std::uint32_t, kMaxBurst> stamped_{};   // by the original schedule
  std::array<typename Queue::Frame, kMaxBurst> frames_{};
  SenderReport report_;  // without the next two
  Gathered lateness_seen_;
  Gathered step_gaps_;
  StampBases bases_;
  alignas(64) std::atomic<std::uint64_t> progress_{0};
};

}  // namespace natxy::run
