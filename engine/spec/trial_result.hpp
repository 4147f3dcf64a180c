// What a trial yields: counters, distributions and what the tester itself did. No verdict but
// validity: whether the DUT passed is the package's judgement.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spec/icmp_error.hpp"
#include "spec/port_counters.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::spec {

struct DistributionBucket {
  double lower_ns = 0;  // both included; equal where the values are known to the clock's tick
  double upper_ns = 0;
  std::uint64_t count = 0;
};

// A distribution of durations in nanoseconds. Minimum and maximum are exact (to the clock). A
// delay's bucket is not wider than 2^-10 of its distance from the minimum, or one tick.
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
};

struct Misdelivered {           // by the first check that failed, in this order
  std::uint64_t malformed = 0;  // not the IP version, protocol or lengths that were due
  std::uint64_t checksum = 0;   // IPv4 header or UDP
  std::uint64_t number = 0;     // a number, stream or direction that was never sent to this port
  std::uint64_t length = 0;
  std::uint64_t address = 0;
  std::uint64_t port = 0;
  std::uint64_t hop_limit = 0;
  std::uint64_t traffic_class = 0;  // or flow label, where the spec has them kept
  [[nodiscard]] std::uint64_t total() const {
    return malformed + checksum + number + length + address + port + hop_limit + traffic_class;
  }
};

// Tagged frames, of both kinds of traffic.
struct TagCounters {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t lost = 0;  // sent - received
  Distribution delay;
  Distribution poll_gap;
  Distribution step_gap;
};

// Frames that never came, by when they were due since the phase's start.
struct Losses {
  std::uint64_t frames = 0;
  std::uint64_t first_number = 0;
  std::uint64_t last_number = 0;
  double first_due_ns = 0;
  double last_due_ns = 0;
  std::uint64_t longest_run = 0;  // frames, consecutive by number
  double longest_run_from_ns = 0;
  double longest_run_until_ns = 0;  // the due time of the first frame after it
};

// The longest time without an arrival, since the phase's start (RFC 6201's timestamp method).
struct Silence {
  double from_ns = 0;
  double until_ns = 0;
};

// D(i) - D(i-1), signed; a pair of which a frame is missing is undefined (RFC 8219 7.3.2).
struct DelayVariation {
  std::uint64_t undefined = 0;
  Distribution distribution;
};

// Of one kind of traffic in one direction of one phase.
struct KindCounters {
  std::uint64_t sent =
      0;  // offered to the gateway: accepted by the port, or refused by the gateway's ring
  std::uint64_t received = 0;  // each number once, right in every check, in time
  std::uint64_t lost = 0;      // sent - received
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;             // RFC 4737 singleton; a part of received
  std::uint64_t without_udp_checksum = 0;  // it was 0, over IPv4; a part of received
  std::uint64_t late = 0;                  // beyond the frame timeout, or beyond the window (drain)
  Misdelivered misdelivered;
  std::uint8_t hop_limit = 0;         // seen on arrival; 0: none arrived
  std::uint64_t negative_delays = 0;  // set to 0
  Distribution delay;
  std::optional<DelayVariation> ipdv;  // present if it was asked for
};

// What the frames of a stream that arrived said of their connections.
struct ConnectionCounters {
  std::uint64_t stored = 0;    // for the first time; JSON: "new"
  std::uint64_t known = 0;     // with the mapping that is stored; of replies: that came back right
  std::uint64_t changed = 0;   // with another mapping, which is stored now
  std::uint64_t wrong = 0;     // replies delivered to another connection; a part of misdelivered
  std::uint64_t collided = 0;  // of those: both connections have one external four-tuple
  double ending_new_percent = 0;  // new ones among the last 1 % of an establishing stream's frames
};

// The tester's own table.
struct ConnectionTable {
  std::uint64_t asked = 0;   // entries
  std::uint64_t stored = 0;  // connections
  std::uint64_t bytes = 0;
  std::uint64_t page_bytes = 0;
};

// Times in which a sender moved its schedule, because it was further behind than it may make up.
struct Pauses {
  std::uint64_t count = 0;
  double total_ns = 0;  // of the sender that paused longest, where several share a direction
  double longest_ns = 0;
};

struct StreamResult {
  std::string phase;
  Direction direction = Direction::kForward;
  std::uint64_t due = 0;  // frames that the spec asked for
  std::uint64_t refused_by_gateway =
      0;                              // the gateway's own ring was full; a part of sent and of lost
  std::uint64_t refused_by_port = 0;  // the tester's port was full; tried again
  std::uint64_t largest_burst = 0;    // frames that left without waiting for a due time
  Pauses pauses;
  double sending_ns = 0;          // first departure to last departure
  double first_departure_ns = 0;  // since the trial's start
  Distribution lateness;
  Distribution send_call;  // duration of the port's send call, a part of each delay
  // By how much a frame's delay may have been measured too long: by frame, the time since the poll
  // before the one that found it, and the time until its sender's next step.
  Distribution poll_gap;
  Distribution step_gap;
  // How much longer the frames took to arrive than to leave, as far as a queue that grew is why:
  // what the gateway held at the end. The last arrival less the last departure less the shortest
  // delay; at most 10/9 of what the shortest delay of the last tenth of the frames is longer than
  // that of the first tenth.
  double held_back_ns = 0;
  // Frames that may have been waiting for a poll at once, where that is more than the port's ring
  // holds; 0: never.
  std::uint64_t overrun_frames = 0;
  // Late frames that may have been in time, by poll_gap; 0 where the port stamps them itself.
  std::uint64_t uncertain_late = 0;
  std::array<std::optional<KindCounters>, 2> kinds;  // by Kind; absent: the stream has none of it
  std::optional<TagCounters> tags;                   // present if they were asked for
  std::optional<Losses> losses;                      // absent: none was lost
  Silence silence;
  std::optional<ConnectionCounters> connections;  // absent: stateless
};

struct PortResult {
  Side side = Side::kLeft;
  std::uint64_t foreign = 0;    // not of this trial
  std::uint64_t neighbour = 0;  // ARP and ND, answered or not
  std::uint64_t rx_missed = 0;  // the port's own counters, moved during the trial
  std::uint64_t rx_errors = 0;
  std::uint64_t rx_no_buffer = 0;
  std::uint64_t tx_errors = 0;
  std::uint64_t kernel_rx_dropped =
      0;                           // of the network interface behind the port, where there is one
  std::uint64_t link_downs = 0;    // how often its link went down
  std::uint64_t records_lost = 0;  // frames' records for which there was no room
  double worst_poll_gap_ns = 0;
  ArrivalClock clock;
  IcmpErrors icmp;  // a part of foreign
};

struct WorkerResult {
  int cpu = 0;
  std::vector<std::string> tasks;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  double worst_loop_gap_ns = 0;
  double cpu_ns = 0;
  double off_core_ns = 0;  // of the phase, in which the thread did not run
};

// A watched CPU in one phase: how long it did something else than the gateway's work, or nothing
// because the host had taken it. Upper bounds, to the period with which it is looked at.
struct WatchResult {
  std::string phase;
  int cpu = 0;
  double period_ns = 0;
  std::uint64_t samples = 0;
  std::uint64_t absences = 0;
  double away_ns = 0;
  double longest_away_ns = 0;
};

struct Fault {  // an example of a misdelivered frame
  Side side = Side::kLeft;
  std::string reason;
  std::string frame_hex;
};

struct TrialResult {
  int version = kVersion;
  std::uint64_t seed = 0;
  std::uint32_t nonce = 0;
  bool valid = true;
  std::vector<std::string> invalid_reasons;  // sentences
  bool ended_early = false;                  // see TrialSpec::early_end_ns
  bool incomplete = false;       // see Phase::minimum_connections: later phases did not run
  std::string unwatched_reason;  // why a CPU was not watched, or not in a phase; empty: all were
  std::optional<ConnectionTable> connections;  // absent: stateless
  double preparation_ns = 0;  // request read to first frame due: neighbours, warm-up, templates
  double duration_ns = 0;     // first frame due to end of the last drain
  std::string delay_definition;
  // Of arrivals: "tsc", "port" (each its own), or which side has which.
  std::string delay_clock;
  std::vector<StreamResult> streams;
  std::vector<PortResult> ports;
  std::vector<WorkerResult> workers;
  std::vector<WatchResult> watched;
  std::vector<Fault> faults;
};

}  // namespace natxy::spec
