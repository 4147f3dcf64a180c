// What a receiver is given for one phase, and what it counted and measured in it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "frame/arrival.hpp"
#include "frame/icmp_error.hpp"
#include "run/arrivals.hpp"
#include "run/clock.hpp"
#include "run/connection_recorder.hpp"
#include "run/delay.hpp"
#include "run/frame_record.hpp"
#include "run/histogram.hpp"
#include "run/schedule.hpp"
#include "run/sender_report.hpp"
#include "run/stream_plan.hpp"
#include "run/worker.hpp"
#include "spec/port_result.hpp"
#include "spec/stream_result.hpp"

namespace natxy::run {

// Counts the ICMP errors that arrive at one port, by their content, in bounded memory.
struct IcmpSort {
  frame::IcmpError error;  // the first one of this sort; its quotation is in the example
  std::uint64_t count = 0;
  std::vector<std::uint8_t> example;

  [[nodiscard]] bool alike(const frame::IcmpError& other) const {
    return error.ip_version == other.ip_version && error.type == other.type &&
           error.code == other.code && error.mtu == other.mtu && error.source == other.source;
  }
};

class IcmpTally {
 public:
  static constexpr std::size_t kSorts = 16;
  static constexpr std::size_t kExampleOctets = 128;

  // Counts the frame if it is an ICMP error.
  void look_at(const std::uint8_t* frame, std::uint32_t size, const SentHere& sent_here) {
    const auto error = frame::parse_icmp_error({frame, size});
    if (!error) return;
    const bool ours = std::ranges::any_of(sent_here, [&](const frame::Quotation* sent) {
      return sent != nullptr && sent->fits(*error);
    });
    if (!ours) {
      ++of_others_;
    } else if (auto* sort = find(*error)) {
      ++sort->count;
    } else {
      list(*error, frame, size);
    }
  }

  void merge(const IcmpTally& other);
  [[nodiscard]] spec::IcmpErrors result() const;

 private:
  [[nodiscard]] IcmpSort* find(const frame::IcmpError& error) {
    const auto entry =
        std::ranges::find_if(sorts_, [&](const IcmpSort& sort) { return sort.alike(error); });
    return entry == sorts_.end() ? nullptr : &*entry;
  }
  void list(const frame::IcmpError& error, const std::uint8_t* frame, std::uint32_t size) {
    if (sorts_.size() == kSorts) {
      ++unlisted_;
      return;
    }
    const auto shown = std::min<std::size_t>(size, kExampleOctets);
    sorts_.push_back({.error = error, .count = 1, .example = {frame, frame + shown}});
    sorts_.back().error.quoted = {};  // the frame's buffer will be freed
  }

  std::vector<IcmpSort> sorts_;
  std::uint64_t unlisted_ = 0;
  std::uint64_t of_others_ = 0;
};

// Each merge() adds what another receiver of the same stream has recorded, when both have ended.

struct KindTally : spec::FrameCounters {
  std::array<std::uint64_t, frame::kDefects> defects{};  // by frame::Defect
  frame::HopLimits hop_limits;  // required on arrival; 0: no frame has arrived to learn them from
  DelayHistogram delay;
  ShortestDelays shortest;  // of each kind: its queue in the gateway may be its own
  // Present if the spec asks for it; such a stream has one receiver.
  std::optional<DelayVariation> variation;

  void merge(const KindTally& other);
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

struct ReceiverReport : spec::ReceiverCounters {
  static constexpr std::size_t kMaxExamples = 8;

  std::array<KindTally, 2> kinds;
  std::uint64_t foreign = 0;
  std::uint64_t neighbour = 0;
  IcmpTally icmp;  // a part of foreign
  // Per frame: how long it may have waited for the poll that found it.
  Histogram<1> poll_gap;
  Ticks last_arrival = kNever;  // of the received frames
  std::vector<FaultExample> examples;
  ConnectionTally connections;
  std::vector<TagArrival> tags;
  Silence silence;
  std::uint64_t records_lost = 0;
  // Frames that an earlier phase sent, by phase and kind; they are late frames of that phase.
  std::array<std::array<std::uint64_t, 2>, spec::kMaxPhases> stragglers{};

  void merge(const ReceiverReport& other);
};

// What a receiver is given for one phase, beside the plan of its stream and its queue.
struct ReceiverSetup {
  std::uint32_t tag = 0;
  SentHere sent_here{};  // the traffic that this port sends
  Ticks frame_timeout = kNever;
  Arrivals* arrivals = nullptr;  // of the stream; null if no stream arrives at this port
  unsigned receiver = 0;         // which one of the stream's receivers this is
  unsigned senders = 1;          // reordering is judged within the share of each sender
  std::array<frame::HopLimits, 2> hop_limits{};
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

}  // namespace natxy::run
