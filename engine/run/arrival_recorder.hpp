// Records the arrivals at one port: counters, delays and gaps, and the record of each frame.
//
// The receiver decides what a frame is; the recorder counts it. Only its receiver uses it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "run/receiver_report.hpp"
#include "run/stream_plan.hpp"

namespace natxy::run {

// The accepted frames of a lot: they are correct, and the first ones with their numbers.
struct AcceptedLot {
  unsigned size = 0;
  std::array<std::uint64_t, flow::kMaxLot> numbers{};
  std::array<std::uint32_t, flow::kMaxLot> lateness{};
  // From the port's time stamp to the poll; read only if the port stamps arrivals.
  std::array<Ticks, flow::kMaxLot> waits{};
  std::uint32_t without_checksum = 0;  // one bit per frame

  void add(const frame::Stamp& stamp, Ticks waited) {
    numbers[size] = stamp.number();
    waits[size] = waited;
    lateness[size++] = stamp.lateness();
  }
};

class ArrivalRecorder {
 public:
  // plan: null if no stream arrives at this port. stamped: whether the port stamps arrivals.
  ArrivalRecorder(const StreamPlan* plan, const ReceiverSetup& setup, bool stamped)
      : plan_(plan),
        setup_(&setup),
        stamped_(stamped),
        by_senders_(setup.senders),
        expected_{std::vector<std::uint64_t>(setup.senders, 0),
                  std::vector<std::uint64_t>(setup.senders, 0)} {
    if (setup.variation) {
      for (auto& kind : report_.kinds) kind.variation.emplace();
    }
    if (setup.tags) room_for(report_.tags, setup.tags->count());
    report_.examples.reserve(ReceiverReport::kMaxExamples);
    if (plan != nullptr) {
      for (auto& kind : report_.kinds) kind.shortest = ShortestDelays(plan->schedule.frames());
    }
  }

  void begin(Ticks start) { start_ = start; }

  // Records a poll that found n frames. gap: how long they may have waited for it.
  void record_poll(Ticks gap, unsigned n) {
    gap_ = gap;
    report_.poll_gap.record(gap, n);
  }
  // Records that this many frames may have waited for a poll at once, more than the ring holds.
  void record_overrun(std::uint64_t frames) {
    report_.overrun_frames = std::max(report_.overrun_frames, frames);
  }

  // Records the accepted frames of a lot, which are at least one. Removes those that are late.
  void record(spec::Kind kind, AcceptedLot& lot, Ticks arrived) {
    auto& tally = report_.kinds[static_cast<std::size_t>(kind)];
    Delays delays;
    for (unsigned i = 0; i < lot.size; ++i) {
      delays[i] = arrived - (start_ + plan_->schedule.due(lot.numbers[i]) + lot.lateness[i]);
    }
    if (stamped_) [[unlikely]] {
      for (unsigned i = 0; i < lot.size; ++i) delays[i] -= lot.waits[i];
    }
    if (stamps_leave_out()) [[unlikely]] {
      for (unsigned i = 0; i < lot.size; ++i) delays[i] -= setup_->sent->stamp_base(lot.numbers[i]);
    }
    Ticks longest = 0;
    for (unsigned i = 0; i < lot.size; ++i) {  // clocks of two cores may differ: delays below 0
      tally.negative_delays += delays[i] >> 63U;
      delays[i] = static_cast<std::int64_t>(delays[i]) < 0 ? 0 : delays[i];
      longest = std::max(longest, delays[i]);
    }
    if (longest > setup_->frame_timeout) [[unlikely]]
      drop_late(kind, lot, delays);
    if (lot.size == 0) return;
    tally.received += lot.size;
    tally.without_udp_checksum += static_cast<unsigned>(std::popcount(lot.without_checksum));
    const auto least = tally.delay.record(delays.data(), lot.size);
    tally.shortest.record(lot.numbers.data(), delays.data(), lot.size, least);
    end_silence(arrived);
    if (setup_->records != nullptr) {
      keep(kind, FrameStatus::kReceived, lot, delays, {.first = 0, .end = lot.size});
    }
    if (setup_->tags) record_tags(lot, delays);
    if (tally.variation) record_variation(lot, delays, *tally.variation);
    judge_order(kind, lot);
  }

  // Counts a correct frame whose number has arrived before, or is too old for the window.
  void count_odd(spec::Kind kind, FrameStatus status, const frame::Stamp& stamp, Ticks arrived) {
    auto& tally = report_.kinds[static_cast<std::size_t>(kind)];
    ++(status == FrameStatus::kDuplicate ? tally.duplicated : tally.late);
    if (setup_->records == nullptr) return;
    auto record = record_of(kind, status);
    record.number = stamp.number();
    record.departure = departure(stamp.number(), stamp.lateness());
    const auto left = start_ + record.departure;
    record.delay = arrived > left ? arrived - left : 0;
    setup_->records->push(record);
  }
  void count_defect(const frame::Claimed& claimed, frame::Defect defect) {
    auto& tally = report_.kinds[static_cast<std::size_t>(claimed.stamp.stream().kind())];
    ++tally.defects[static_cast<std::size_t>(defect)];
    if (report_.examples.size() == ReceiverReport::kMaxExamples) return;
    const auto size = std::min<std::size_t>(claimed.size, kExampleOctets);
    report_.examples.push_back({.defect = defect, .octets = {claimed.frame, claimed.frame + size}});
  }
  // Counts a frame that an earlier phase sent.
  void count_straggler(frame::StreamId stream) {
    ++report_.stragglers[stream.phase()][static_cast<std::size_t>(stream.kind())];
  }
  void count_neighbour() { ++report_.neighbour; }
  // Counts a frame that is neither of this trial nor for the neighbour responder.
  void count_foreign(const frame::Claimed& claimed) {
    ++report_.foreign;
    report_.icmp.look_at(claimed.frame, claimed.size, setup_->sent_here);
  }

  [[nodiscard]] std::uint64_t received() const {
    return report_.kinds[0].received + report_.kinds[1].received;
  }
  // Returns the report, without the connections and the hop limits.
  [[nodiscard]] const ReceiverReport& report() const { return report_; }

 private:
  static constexpr std::size_t kExampleOctets = 128;
  using Delays = std::array<Ticks, flow::kMaxLot>;
  struct Range {  // frames of a lot
    unsigned first;
    unsigned end;
  };

  // Returns whether a sender has paused for longer than a stamp can hold (see StampBases).
  [[nodiscard]] bool stamps_leave_out() const {
    return setup_->control != nullptr && setup_->sent != nullptr &&
           setup_->control->paused() >= StampBases::kStep;
  }
  // Returns when a frame left, since the phase's start, from the lateness in its stamp.
  [[nodiscard]] Ticks departure(std::uint64_t number, std::uint32_t lateness) const {
    const auto base = stamps_leave_out() ? setup_->sent->stamp_base(number) : 0;
    return plan_->schedule.due(number) + base + lateness;
  }

  void end_silence(Ticks arrived) {
    auto& silence = report_.silence;
    const auto own = report_.last_arrival;
    if (own == kNever || arrived - own > silence.until - silence.from) [[unlikely]] {
      const auto last = setup_->arrivals->last_came();  // at any receiver of the stream
      if (last != kNever && last < arrived && arrived - last > silence.until - silence.from) {
        silence = {.from = last, .until = arrived};
      }
    }
    report_.last_arrival = arrived;
    setup_->arrivals->came(setup_->receiver, arrived);
  }

  [[nodiscard]] FrameRecord record_of(spec::Kind kind, FrameStatus status) const {
    auto record = setup_->record;
    record.kind = kind;
    record.status = status;
    return record;
  }
  // Writes the records of some frames of a lot.
  [[gnu::noinline]] void keep(spec::Kind kind, FrameStatus status, const AcceptedLot& lot,
                              const Delays& delays, Range range) {
    auto record = record_of(kind, status);
    for (unsigned i = range.first; i < range.end; ++i) {
      record.number = lot.numbers[i];
      record.departure = departure(lot.numbers[i], lot.lateness[i]);
      record.delay = delays[i];
      setup_->records->push(record);
    }
  }

  [[gnu::noinline]] void record_tags(const AcceptedLot& lot, const Delays& delays) {
    for (unsigned i = 0; i < lot.size; ++i) {
      if (!setup_->tags->holds(lot.numbers[i])) continue;
      report_.tags.push_back(
          {.number = lot.numbers[i], .delay = delays[i], .poll_gap = stamped_ ? 0 : gap_});
    }
  }

  [[gnu::noinline]] void record_variation(const AcceptedLot& lot, const Delays& delays,
                                          DelayVariation& variation) const {
    if (!plan_->mix.mixed()) {
      return variation.record(lot.numbers.data(), delays.data(), lot.size);
    }
    std::array<std::uint64_t, flow::kMaxLot> ordinals;
    for (unsigned i = 0; i < lot.size; ++i) ordinals[i] = plan_->mix.at(lot.numbers[i]).ordinal;
    variation.record(ordinals.data(), delays.data(), lot.size);
  }

  [[gnu::noinline]] void drop_late(spec::Kind kind, AcceptedLot& lot, Delays& delays) {
    unsigned kept = 0;
    const auto without_checksum = std::exchange(lot.without_checksum, 0);
    for (unsigned i = 0; i < lot.size; ++i) {
      if (delays[i] > setup_->frame_timeout) {
        report_.uncertain_late += !stamped_ && delays[i] <= setup_->frame_timeout + gap_;
        if (setup_->records != nullptr) {
          keep(kind, FrameStatus::kLate, lot, delays, {.first = i, .end = i + 1});
        }
        continue;
      }
      lot.without_checksum |= (without_checksum >> i & 1U) << kept;
      lot.numbers[kept] = lot.numbers[i];
      lot.lateness[kept] = lot.lateness[i];
      delays[kept++] = delays[i];
    }
    report_.kinds[static_cast<std::size_t>(kind)].late += lot.size - kept;
    lot.size = kept;
  }

  // Counts reordered frames. RFC 4737 3.3: a frame is reordered if its number is smaller than the
  // next one expected; here, the next one of its kind and of its sender.
  void judge_order(spec::Kind kind, const AcceptedLot& lot) {
    auto& tally = report_.kinds[static_cast<std::size_t>(kind)];
    auto* expected = expected_[static_cast<std::size_t>(kind)].data();
    for (unsigned i = 0; i < lot.size; ++i) {
      auto& next = expected[by_senders_.divide(lot.numbers[i]).remainder];
      if (lot.numbers[i] < next) [[unlikely]] {
        ++tally.reordered;
      } else {
        next = lot.numbers[i] + 1;
      }
    }
  }

  const StreamPlan* plan_;
  const ReceiverSetup* setup_;
  bool stamped_;
  flow::Divider by_senders_;
  std::array<std::vector<std::uint64_t>, 2> expected_;  // by kind, then by sender
  Ticks start_ = 0;
  Ticks gap_ = 0;  // of the last poll that found frames
  ReceiverReport report_;
};

}  // namespace natxy::run
