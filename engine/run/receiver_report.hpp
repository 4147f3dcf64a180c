// What a receiver is given for one phase, and what it counted and measured in it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "frame/arrival.hpp"
#include "run/arrivals.hpp"
#include "run/clock.hpp"
#include "run/connection_recorder.hpp"
#include "run/control.hpp"
#include "run/delay.hpp"
#include "run/frame_record.hpp"
#include "run/histogram.hpp"
#include "run/icmp_tally.hpp"
#include "run/sent_numbers.hpp"
#include "run/tag_plan.hpp"

namespace natxy::run {

// Each merge() adds what another receiver of the same stream has recorded, when both have ended.

struct KindTally {
  std::uint64_t received = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t without_udp_checksum = 0;
  std::uint64_t late = 0;
  std::uint64_t negative_delays = 0;
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

struct ReceiverReport {
  static constexpr std::size_t kMaxExamples = 8;

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
