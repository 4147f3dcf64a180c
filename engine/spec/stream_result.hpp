// What a trial's result says of a stream: counters, distributions, and when its frames were lost.
//
// The members are explained in natxy/model/stream_result.py and stream_counters.py, from which
// docs/reference/engine-members.md is made.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/members.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::spec {

using Interval = std::array<std::uint64_t, 2>;  // from, until; or the first number and the last one
using LostRun = std::array<std::uint64_t, 3>;   // first number, span, how many of it are lost
// Number, delay in ns, and by how much it may be too long: its poll gap, and what its send call
// took beyond the usual.
using TaggedArrival = std::array<std::uint64_t, 3>;
using LowDelay = std::array<std::uint64_t, 2>;  // first number of a stretch, its lowest delay in ns

struct DistributionBucket {
  double lower_ns = 0;  // both ends included; equal if the bucket is one tick wide
  double upper_ns = 0;
  std::uint64_t count = 0;

  NATXY_MEMBERS(lower_ns, upper_ns, count)
};

// A distribution of durations.
struct Distribution {
  std::uint64_t count = 0;
  double min_ns = 0;
  double max_ns = 0;
  double mean_ns = 0;
  double p50_ns = 0;
  double p90_ns = 0;
  double p99_ns = 0;
  double p999_ns = 0;
  std::vector<DistributionBucket> buckets;  // ascending, none empty

  NATXY_MEMBERS(count, min_ns, max_ns, mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, buckets)
};

struct Misdelivered {  // counted by the first check that failed, in this order
  std::uint64_t malformed = 0;
  std::uint64_t checksum = 0;
  std::uint64_t number = 0;
  std::uint64_t length = 0;
  std::uint64_t tunnel = 0;
  std::uint64_t address = 0;
  std::uint64_t port = 0;
  std::uint64_t sequence = 0;
  std::uint64_t hop_limit = 0;
  std::uint64_t traffic_class = 0;
  std::uint64_t header = 0;

  NATXY_MEMBERS(malformed, checksum, number, length, tunnel, address, port, sequence, hop_limit,
                traffic_class, header)

  [[nodiscard]] std::uint64_t total() const {
    std::uint64_t total = 0;
    each_member([&](auto, std::uint64_t count) { total += count; });
    return total;
  }
};

// The tagged frames of a stream, of both kinds of traffic.
struct TagCounters {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t lost = 0;              // sent - received
  std::vector<TaggedArrival> arrived;  // in ascending order of numbers
  std::vector<std::uint64_t> lost_numbers;

  NATXY_MEMBERS(sent, received, lost, arrived, lost_numbers)
};

// The frames that did not arrive; times are their due times since the phase's start.
struct Losses {
  std::uint64_t frames = 0;
  std::uint64_t first_number = 0;
  std::uint64_t last_number = 0;
  double first_due_ns = 0;
  double last_due_ns = 0;
  std::uint64_t gaps = 0;
  std::uint64_t longest_run = 0;
  double longest_run_from_ns = 0;
  double longest_run_until_ns = 0;

  NATXY_MEMBERS(frames, first_number, last_number, first_due_ns, last_due_ns, gaps, longest_run,
                longest_run_from_ns, longest_run_until_ns)
};

// The longest time without an arrival.
struct Silence {
  double from_ns = 0;
  double until_ns = 0;

  NATXY_MEMBERS(from_ns, until_ns)
};

// IPDV: the signed differences D(i) - D(i-1).
struct DelayVariation {
  std::uint64_t undefined = 0;
  Distribution distribution;

  NATXY_MEMBERS(undefined, distribution)
};

// Counters of the frames of one kind of traffic in one direction of one phase. Receivers count all
// but `sent` and `lost`.
struct FrameCounters {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t lost = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t without_udp_checksum = 0;
  std::uint64_t late = 0;
  std::uint64_t negative_delays = 0;

  NATXY_MEMBERS(sent, received, lost, duplicated, reordered, without_udp_checksum, late,
                negative_delays)
};

// What is known of one kind of traffic in one direction of one phase.
struct KindCounters : FrameCounters {
  Misdelivered misdelivered;
  std::uint8_t hop_limit = 0;  // on arrival; 0: no frame arrived
  Distribution delay;
  std::optional<DelayVariation> ipdv;  // present if the spec asks for it

  NATXY_MEMBERS(misdelivered, hop_limit, delay, ipdv)
};

// Counters of a stream's arrivals by what they show about their connections.
struct ConnectionCounters {
  std::uint64_t stored = 0;  // JSON: "new"
  std::uint64_t known = 0;
  std::uint64_t changed = 0;
  std::uint64_t wrong = 0;
  std::uint64_t collided = 0;
  double ending_new_percent = 0;

  NATXY_MEMBERS(known, changed, wrong, collided, ending_new_percent)
};

// Pauses: a sender that was too far behind moved the rest of its schedule (docs/decisions/0017).
enum class PauseReason : std::uint8_t {
  kCore,  // the sender was kept from its core, or is too slow
  kPort,  // the port had refused a frame
};

// A pause of the sender of a number, just before this number.
struct Pause {
  std::uint64_t before_number = 0;
  std::uint64_t ns = 0;
  PauseReason why = PauseReason::kCore;

  NATXY_MEMBERS(before_number, ns, why)
};

struct Pauses {
  std::uint64_t count = 0;
  double total_ns = 0;
  double longest_ns = 0;
  std::vector<Pause> at;  // ascending

  NATXY_MEMBERS(count, total_ns, longest_ns, at)
};

// What the senders of a stream count.
struct SenderCounters {
  std::uint64_t refused_by_gateway = 0;
  std::uint64_t refused_by_port = 0;
  std::uint64_t largest_burst = 0;

  NATXY_MEMBERS(refused_by_gateway, refused_by_port, largest_burst)
};

// What the receivers of a stream count for both kinds of traffic together.
struct ReceiverCounters {
  std::uint64_t overrun_frames = 0;
  std::uint64_t uncertain_late = 0;

  NATXY_MEMBERS(overrun_frames, uncertain_late)
};

struct StreamResult : SenderCounters, ReceiverCounters {
  std::string phase;
  Direction direction = Direction::kForward;
  std::uint64_t due = 0;  // frames that the spec asks for
  unsigned senders = 0;
  Pauses pauses;
  std::vector<Interval> late_runs;  // ascending by the first number
  std::uint64_t start_raw_ns = 0;
  double sending_ns = 0;
  double first_departure_ns = 0;
  Distribution lateness;
  Distribution send_call;
  Distribution poll_gap;
  Distribution step_gap;
  double held_back_ns = 0;
  double last_delay_excess_ns = 0;
  std::array<std::optional<KindCounters>, 2> kinds;  // by Kind; absent if the stream has none
  std::optional<TagCounters> tags;                   // present if the spec asks for tags
  std::optional<Losses> losses;                      // absent if no frame was lost
  std::vector<LostRun> lost_runs;                    // ascending
  std::vector<LowDelay> low_delays;                  // ascending
  Silence silence;
  std::optional<ConnectionCounters> connections;  // absent in a stateless trial

  NATXY_MEMBERS(phase, direction, due, senders, pauses, late_runs, start_raw_ns, sending_ns,
                first_departure_ns, lateness, send_call, poll_gap, step_gap, held_back_ns,
                last_delay_excess_ns, tags, losses, lost_runs, low_delays, silence, connections)
};

}  // namespace natxy::spec
