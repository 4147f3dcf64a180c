// Receives the frames that arrive at one port, checks each against its number, and records it: the
// hot loop of arrivals.
//
// For Queue see port/rx_queue.hpp, for Clock see clock.hpp. Only the receiver's worker may call its
// functions, except progress().
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "run/clock.hpp"
#include "run/connection_recorder.hpp"
#include "run/control.hpp"
#include "run/delay_histogram.hpp"
#include "run/delay_variation.hpp"
#include "run/frame_record.hpp"
#include "run/histogram.hpp"
#include "run/icmp_tally.hpp"
#include "run/sent_numbers.hpp"
#include "run/shortest_delays.hpp"
#include "run/stream_plan.hpp"
#include "run/tag_plan.hpp"
#include "run/window.hpp"

namespace natxy::run {

struct KindTally {
  std::uint64_t received = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t without_udp_checksum = 0;
  std::uint64_t late = 0;
  std::uint64_t negative_delays = 0;
  std::array<std::uint64_t, frame::kDefects> defects{};  // by frame::Defect
  std::uint8_t hop_limit = 0;  // required on arrival; 0: learned from the first arrival
  DelayHistogram delay;
  std::optional<DelayVariation> variation;  // present if the spec asks for it
};

// The longest time between two receive calls that found frames of the stream.
struct Silence {
  Ticks from = 0;
  Ticks until = 0;
};

struct FaultExample {
  frame::Defect defect;
  std::vector<std::uint8_t> octets;
};

struct ReceiverReport {
  std::array<KindTally, 2> kinds;
  std::uint64_t foreign = 0;
  std::uint64_t neighbour = 0;
  IcmpTally icmp;  // a part of foreign
  // Per frame: how long it may have waited for the poll that found it.
  Histogram<1> poll_gap;
  // The most frames that may have waited for a poll at once; 0 if the ring held them all.
  std::uint64_t overrun = 0;
  // Late frames that may have arrived in time, because of the poll gap; 0 if the port stamps them.
  std::uint64_t uncertain_late = 0;
  Ticks last_arrival = kNever;  // of the received frames
  ShortestDelays shortest;
  std::vector<FaultExample> examples;
  ConnectionTally connections;
  std::optional<DelayHistogram> tags;  // delays of the tagged frames, if there are any
  Histogram<1> tag_poll_gap;
  Silence silence;
  std::uint64_t records_lost = 0;
  // Frames that an earlier phase sent, by phase and kind; they are late frames of that phase.
  std::array<std::array<std::uint64_t, 2>, 4> stragglers{};
};

struct ReceiverSetup {
  std::uint32_t tag = 0;
  SentHere sent_here{};  // the traffic that this port sends
  Ticks frame_timeout = kNever;
  std::uint64_t window = 0;  // in numbers; see Window
  unsigned senders = 1;      // reordering is judged within the share of each sender
  std::array<std::uint8_t, 2> hop_limits{};
  std::optional<TagPlan> tags;
  bool variation = false;
  Ticks early_end = kNever;  // a frame that left longer ago and has not arrived is lost
  Control* control = nullptr;
  const SentNumbers* sent = nullptr;  // of the stream's senders
  unsigned ring_frames = ~0U;         // frames that the port holds between two polls
  Ticks long_absence = 0;             // the ring cannot fill in a shorter time without a poll
  RecordRing* records = nullptr;      // null if frames are not recorded
  FrameRecord record;                 // the values that all records share
};

template <flow::Shape kShape, class Clock, class Queue>
class Receiver {
 public:
  // plan: the stream that arrives here; null if no stream arrives at this port.
  Receiver(const StreamPlan* plan, const ReceiverSetup& setup, Queue& queue)
      : plan_(plan),
        queue_(&queue),
        setup_(setup),
        window_(setup.window),
        by_senders_(setup.senders),
        expected_{std::vector<std::uint64_t>(setup.senders, 0),
                  std::vector<std::uint64_t>(setup.senders, 0)},
        stamped_(queue.stamps()) {
    for (std::size_t kind = 0; kind < 2; ++kind) {
      report_.kinds[kind].hop_limit = setup.hop_limits[kind];
      if (setup.variation) report_.kinds[kind].variation.emplace();
    }
    if (setup.tags) report_.tags.emplace();
    report_.examples.reserve(kMaxExamples);
    if (plan != nullptr) report_.shortest = ShortestDelays(plan->schedule.frames());
  }

  void begin(Ticks start) {
    start_ = start;
    looked_ = stepped_ = start;
    last_arrival_ = kNever;
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
    gap_ = arrived - looked_;
    found_ += n;
    // Measured up to `arrived`, because the core may have been taken between `now` and the call.
    if (arrived - before > setup_.long_absence || waiting_ > 0) [[unlikely]]
      look_for_overrun();
    if (n < kMaxReceive) empty_at(now);  // else more frames may be waiting in the ring
    report_.poll_gap.record(gap_, n);
    take_all(n, arrived);
    return true;
  }

  [[nodiscard]] ReceiverReport report() const {
    auto report = report_;
    report.connections = connections_.tally();
    report.last_arrival = last_arrival_;
    return report;
  }
  // Returns which of the first `frames` frames of the stream did not arrive.
  [[nodiscard]] LossRuns losses(std::uint64_t frames) const { return window_.losses(frames); }
  [[nodiscard]] std::uint64_t progress() const { return progress_.load(std::memory_order_relaxed); }

 private:
  static constexpr unsigned kMaxReceive = flow::kMaxLot;
  static constexpr unsigned kAhead = 4;
  static constexpr std::size_t kMaxExamples = 8;
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
    const auto came = std::max(window_.end(), strayed_);
    waiting_ = std::max(waiting_, sent > came ? sent - came : 0);
    if (waiting_ <= setup_.ring_frames || found_ < setup_.ring_frames / 2) return;
    report_.overrun = std::max(report_.overrun, waiting_);
  }

  void take_all(unsigned n, Ticks arrived) {
    for (unsigned i = 0; i < std::min(n, kAhead); ++i) Queue::prefetch(frames_[i]);
    unsigned kept = 0;
    for (unsigned i = 0; i < n; ++i) {
      if (i + kAhead < n) Queue::prefetch(frames_[i + kAhead]);
      const auto frame = frames_[i];
      const auto claimed = frame::claim(Queue::data(frame), Queue::length(frame), setup_.tag);
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
    progress_.store(report_.kinds[0].received + report_.kinds[1].received,
                    std::memory_order_relaxed);
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
    auto& tally = report_.kinds[static_cast<std::size_t>(kind)];
    const auto [right, without_checksum] = check(kind, lot, tally.hop_limit);
    const auto all = ~0U >> (32 - lot.size);
    accepted_ = 0;
    without_checksum_ = without_checksum;
    if (right == all && in_sequence(lot.size) && window_.mark_next(numbers_[0], lot.size))
        [[likely]] {
      for (unsigned i = 0; i < lot.size; ++i) lateness_[i] = lot.stamps.at(i).lateness();
      if (stamped_) [[unlikely]]
        waits_ = waited;
      accepted_ = lot.size;
      if constexpr (kShape.connected) learn(kind, lot, all);
    } else {
      std::uint32_t accepted = 0;
      without_checksum_ = 0;
      for (unsigned i = 0; i < lot.size; ++i) {
        const auto known = (right >> i & 1U) != 0 || look_again(lot.at(i), tally);
        if (!known || !accept(lot.stamps.at(i), tally, arrived, waited[i])) continue;
        without_checksum_ |= (without_checksum >> i & 1U) << (accepted_ - 1);
        accepted |= 1U << i;
      }
      if constexpr (kShape.connected) learn(kind, lot, accepted);
    }
    if (accepted_ > 0) record(arrived, tally);
    lot.size = 0;
  }

  // Returns which frames match their numbers. Leaves the numbers in numbers_.
  [[nodiscard]] frame::LotJudgement check(spec::Kind kind, const frame::ArrivalLot& lot,
                                          std::uint8_t hop_limit) {
    const auto& plan = plan_->kind(kind);
    const auto stream = plan_->stream.with(kind);
    const auto frames = plan_->schedule.frames();
    std::uint32_t known = 0;
    for (unsigned i = 0; i < lot.size; ++i) numbers_[i] = lot.stamps.at(i).number();
    for (unsigned i = 0; i < lot.size; ++i) {
      const bool ours = numbers_[i] < frames && lot.stamps.at(i).stream() == stream;
      known |= static_cast<std::uint32_t>(ours) << i;
    }
    const auto* ordinals = numbers_.data();
    std::array<std::uint64_t, kMaxReceive> mixed;
    if (plan_->mix.mixed()) {
      ordinals = mixed.data();
      for (unsigned i = 0; i < lot.size; ++i) {
        const auto place = plan_->mix.at(numbers_[i]);
        mixed[i] = place.ordinal;
        known &= ~(static_cast<std::uint32_t>(place.kind != kind) << i);
      }
    }
    flow::ValueLot values;
    if (kShape.connected && plan.connections) {
      known &= connections_.read(*plan.connections, lot);
      plan.flow.template fill<kShape>(connections_.numbers(), lot.size, values);
      if (plan.connections->responds()) values.swap_ends();
      if (plan.arrival.learns_source()) plan.arrival.read_source_ports(lot, values);
    } else {
      plan.flow.template fill<kShape>(ordinals, lot.size, values);
    }
    auto judgement = plan.arrival.template judge<kShape>(lot, values, hop_limit);
    judgement.right &= known;
    return judgement;
  }

  // Records the connections of the accepted frames of a lot; accepted: one bit per frame.
  void learn(spec::Kind kind, const frame::ArrivalLot& lot, std::uint32_t accepted) {
    const auto& plan = plan_->kind(kind);
    if (!plan.connections || accepted == 0) return;
    connections_.record(*plan.connections, lot, accepted, plan_->schedule.frames());
  }

  [[nodiscard]] bool in_sequence(unsigned n) const {
    bool follows = true;
    for (unsigned i = 1; i < n; ++i) follows &= numbers_[i] == numbers_[0] + i;
    return follows;
  }

  // Checks a frame that did not match, one check after the other, and counts its defect. Returns
  // true if it has none, which is the case for the frame that the hop limit is learned from.
  [[nodiscard, gnu::noinline]] bool look_again(const frame::Claimed& claimed, KindTally& tally) {
    const auto defect = judge(claimed, tally);
    if (defect == frame::Defect::kNone) return true;
    if (defect == frame::Defect::kNumber && straggles(claimed.stamp.stream())) return false;
    note_stray(claimed.stamp);
    ++tally.defects[static_cast<std::size_t>(defect)];
    if constexpr (kShape.connected) {
      const auto& plan = plan_->kind(claimed.stamp.stream().kind());
      const bool strayed = defect == frame::Defect::kAddress || defect == frame::Defect::kPort;
      if (strayed && plan.connections && plan.connections->responds()) {
        connections_.template judge_reply<kShape>(plan, claimed);
      }
    }
    if (report_.examples.size() < kMaxExamples) {
      const auto size = std::min<std::size_t>(claimed.size, 128);
      report_.examples.push_back(
          {.defect = defect, .octets = {claimed.frame, claimed.frame + size}});
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

  // Returns whether an earlier phase sent the frame in this direction, and counts it if so.
  [[nodiscard]] bool straggles(frame::StreamId stream) {
    const auto own = plan_->stream;
    if (stream.direction() != own.direction() || stream.phase() >= own.phase()) return false;
    ++report_.stragglers[stream.phase()][static_cast<std::size_t>(stream.kind())];
    return true;
  }

  [[nodiscard]] frame::Defect judge(const frame::Claimed& claimed, KindTally& tally) const {
    if (!frame::well_formed(claimed)) return frame::Defect::kMalformed;
    const auto& claimed_kind = plan_->kind(claimed.stamp.stream().kind());
    if (!frame::checksums_right(claimed, claimed_kind.arrival.may_lack_checksum()))
      return frame::Defect::kChecksum;
    const auto number = claimed.stamp.number();
    if (number >= plan_->schedule.frames()) return frame::Defect::kNumber;
    const auto place = plan_->mix.at(number);
    if (claimed.stamp.stream() != plan_->stream.with(place.kind)) return frame::Defect::kNumber;
    const auto& kind = plan_->kind(place.kind);
    if (tally.hop_limit == 0) tally.hop_limit = claimed.frame[claimed.layout->hop_limit];
    auto ordinal = place.ordinal;
    if (kind.connections) {
      ordinal = claimed.stamp.connection();
      if (ordinal >= kind.connections->table->entries()) return frame::Defect::kNumber;
    }
    auto values = kind.flow.template at<kShape>(ordinal);
    if (kind.connections && kind.connections->responds()) values = values.swapped();
    if (kind.arrival.learns_source()) {
      values.source_port = frame::read16(claimed.frame + claimed.layout->udp);
    }
    return kind.arrival.check(claimed, values, tally.hop_limit);
  }

  // Marks the number of a correct frame. Returns true if it is the first frame with this number;
  // its values are then kept in numbers_, waits_ and lateness_, to be recorded.
  bool accept(const frame::Stamp& stamp, KindTally& tally, Ticks polled, Ticks waited) {
    const auto mark = window_.mark(stamp.number());
    if (mark != Window::Mark::kNew) {
      const bool again = mark == Window::Mark::kDuplicate;
      ++(again ? tally.duplicated : tally.late);
      keep_odd(stamp, tally, polled - waited, again ? FrameStatus::kDuplicate : FrameStatus::kLate);
      return false;
    }
    numbers_[accepted_] = stamp.number();
    waits_[accepted_] = waited;
    lateness_[accepted_++] = stamp.lateness();
    return true;
  }

  // Records the accepted_ frames in numbers_ and lateness_.
  void record(Ticks arrived, KindTally& tally) {
    std::array<Ticks, kMaxReceive> delays;
    for (unsigned i = 0; i < accepted_; ++i) {
      delays[i] = arrived - (start_ + plan_->schedule.due(numbers_[i]) + lateness_[i]);
    }
    if (stamped_) [[unlikely]] {
      for (unsigned i = 0; i < accepted_; ++i) delays[i] -= waits_[i];
    }
    if (stamps_leave_out()) [[unlikely]] {
      for (unsigned i = 0; i < accepted_; ++i) delays[i] -= setup_.sent->stamp_base(numbers_[i]);
    }
    Ticks longest = 0;
    for (unsigned i = 0; i < accepted_; ++i) {  // clocks of two cores may differ: delays below 0
      tally.negative_delays += delays[i] >> 63U;
      delays[i] = static_cast<std::int64_t>(delays[i]) < 0 ? 0 : delays[i];
      longest = std::max(longest, delays[i]);
    }
    if (longest > setup_.frame_timeout) [[unlikely]]
      drop_late(delays, tally);
    if (accepted_ == 0) return;
    tally.received += accepted_;
    tally.without_udp_checksum += static_cast<unsigned>(std::popcount(without_checksum_));
    tally.delay.record(delays.data(), accepted_);
    report_.shortest.record(numbers_.data(), delays.data(), accepted_);
    const auto since = last_arrival_ == kNever ? 0 : arrived - last_arrival_;
    if (since > report_.silence.until - report_.silence.from) [[unlikely]]
      report_.silence = {.from = last_arrival_, .until = arrived};
    last_arrival_ = arrived;
    if (setup_.records != nullptr) keep_all(delays, tally, FrameStatus::kReceived, 0, accepted_);
    if (setup_.tags) record_tags(delays);
    if (tally.variation) record_variation(delays, *tally.variation);
    judge_order(tally);
  }

  // Returns whether a sender has paused for longer than a stamp can hold (see StampBases).
  [[nodiscard]] bool stamps_leave_out() const {
    return setup_.control != nullptr && setup_.sent != nullptr &&
           setup_.control->paused() >= StampBases::kStep;
  }
  // Returns when a frame left, since the phase's start, from the lateness in its stamp.
  [[nodiscard]] Ticks departure(std::uint64_t number, std::uint32_t lateness) const {
    const auto base = stamps_leave_out() ? setup_.sent->stamp_base(number) : 0;
    return plan_->schedule.due(number) + base + lateness;
  }

  [[nodiscard]] spec::Kind kind_of(const KindTally& tally) const {
    return static_cast<spec::Kind>(&tally - report_.kinds.data());
  }

  // Writes the records of the accepted frames from index `from` to before `end`.
  [[gnu::noinline]] void keep_all(const std::array<Ticks, kMaxReceive>& delays,
                                  const KindTally& tally, FrameStatus status, unsigned from,
                                  unsigned end) {
    auto record = setup_.record;
    record.kind = kind_of(tally);
    record.status = status;
    for (unsigned i = from; i < end; ++i) {
      record.number = numbers_[i];
      record.departure = departure(numbers_[i], lateness_[i]);
      record.delay = delays[i];
      setup_.records->push(record);
    }
  }
  // Writes the record of a frame that does not count as received.
  void keep_odd(const frame::Stamp& stamp, const KindTally& tally, Ticks arrived,
                FrameStatus status) {
    if (setup_.records == nullptr) return;
    auto record = setup_.record;
    record.kind = kind_of(tally);
    record.status = status;
    record.number = stamp.number();
    record.departure = departure(stamp.number(), stamp.lateness());
    const auto left = start_ + record.departure;
    record.delay = arrived > left ? arrived - left : 0;
    setup_.records->push(record);
  }

  [[gnu::noinline]] void record_tags(const std::array<Ticks, kMaxReceive>& delays) {
    std::array<Ticks, kMaxReceive> tagged;
    unsigned n = 0;
    for (unsigned i = 0; i < accepted_; ++i) {
      if (setup_.tags->holds(numbers_[i])) tagged[n++] = delays[i];
    }
    if (n == 0) return;
    report_.tags->record(tagged.data(), n);
    report_.tag_poll_gap.record(gap_, n);
  }

  [[gnu::noinline]] void record_variation(const std::array<Ticks, kMaxReceive>& delays,
                                          DelayVariation& variation) {
    if (!plan_->mix.mixed()) return variation.record(numbers_.data(), delays.data(), accepted_);
    std::array<std::uint64_t, kMaxReceive> ordinals;
    for (unsigned i = 0; i < accepted_; ++i) ordinals[i] = plan_->mix.at(numbers_[i]).ordinal;
    variation.record(ordinals.data(), delays.data(), accepted_);
  }

  [[gnu::noinline]] void look_for_loss(Ticks now) {
    next_look_ = now + setup_.early_end / kLooks + 1;
    if (plan_ == nullptr) return;
    const auto oldest = window_.first_missing();
    if (oldest >= plan_->schedule.frames()) return;
    if (setup_.sent != nullptr && !setup_.sent->has_left(oldest)) return;  // its sender is late
    const auto left = start_ + plan_->schedule.due(oldest) + setup_.control->paused();
    if (now > left && now - left > setup_.early_end) setup_.control->end_early(now);
  }

  [[gnu::noinline]] void drop_late(std::array<Ticks, kMaxReceive>& delays, KindTally& tally) {
    unsigned kept = 0;
    const auto without_checksum = std::exchange(without_checksum_, 0);
    for (unsigned i = 0; i < accepted_; ++i) {
      if (delays[i] > setup_.frame_timeout) {
        report_.uncertain_late += !stamped_ && delays[i] <= setup_.frame_timeout + gap_;
        if (setup_.records != nullptr) keep_all(delays, tally, FrameStatus::kLate, i, i + 1);
        continue;
      }
      without_checksum_ |= (without_checksum >> i & 1U) << kept;
      numbers_[kept] = numbers_[i];
      lateness_[kept] = lateness_[i];
      delays[kept++] = delays[i];
    }
    tally.late += accepted_ - kept;
    accepted_ = kept;
  }

  // Counts reordered frames. RFC 4737 3.3: a frame is reordered if its number is smaller than the
  // next one expected; here, the next one of its kind and of its sender.
  void judge_order(KindTally& tally) {
    auto* expected = expected_[static_cast<std::size_t>(kind_of(tally))].data();
    for (unsigned i = 0; i < accepted_; ++i) {
      auto& next = expected[by_senders_.divide(numbers_[i]).remainder];
      if (numbers_[i] < next) [[unlikely]] {
        ++tally.reordered;
      } else {
        next = numbers_[i] + 1;
      }
    }
  }

  // Counts a frame that is not of this trial. Returns true if it is for the neighbour responder.
  [[gnu::noinline]] bool stranger(const frame::Claimed& claimed) {
    if (frame::concerns_neighbours(claimed.frame, claimed.size)) {
      ++report_.neighbour;
      return true;
    }
    ++report_.foreign;
    report_.icmp.look_at(claimed.frame, claimed.size, setup_.sent_here);
    return false;
  }

  const StreamPlan* plan_;
  Queue* queue_;
  ReceiverSetup setup_;
  Window window_;
  flow::Divider by_senders_;
  std::array<std::vector<std::uint64_t>, 2> expected_;  // by kind, then by sender
  std::array<typename Queue::Frame, kMaxReceive> frames_{};
  std::array<frame::ArrivalLot, 2> lots_{};  // by kind
  bool stamped_;                             // whether the port time-stamps arrivals
  // From the port's time stamp to the poll, by kind, in the order of lots_; 0 without a stamp.
  std::array<std::array<Ticks, kMaxReceive>, 2> waited_{};
  // The current lot.
  std::array<std::uint64_t, kMaxReceive> numbers_{};
  std::array<std::uint32_t, kMaxReceive> lateness_{};
  std::array<Ticks, kMaxReceive> waits_{};
  unsigned accepted_ = 0;
  std::uint32_t without_checksum_ = 0;  // one bit per accepted frame
  Ticks start_ = 0;
  Ticks stepped_ = 0;
  Ticks looked_ = 0;           // the last time at which the ring was known to be empty
  Ticks gap_ = 0;              // from looked_ to the arrival of the current frames
  std::uint64_t found_ = 0;    // frames since looked_
  std::uint64_t waiting_ = 0;  // the most frames that may have been in the ring since looked_
  std::uint64_t strayed_ = 0;  // highest number of a defective frame, plus 1
  Ticks last_arrival_ = 0;
  Ticks next_look_ = kNever;
  ConnectionRecorder connections_;
  ReceiverReport report_;
  alignas(64) std::atomic<std::uint64_t> progress_{0};
};

}  // namespace natxy::run
