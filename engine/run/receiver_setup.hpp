// What a receiver is given for one phase, beside the plan of its stream and its queue.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "run/arrivals.hpp"
#include "run/clock.hpp"
#include "run/control.hpp"
#include "run/frame_record.hpp"
#include "run/icmp_tally.hpp"
#include "run/sent_numbers.hpp"
#include "run/tag_plan.hpp"

namespace natxy::run {

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
