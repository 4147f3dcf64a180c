// The result of a trial: counters, distributions and what the tester itself did. It says whether
// the trial is valid; whether the DUT passed is decided by the package.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spec/port_result.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::spec {

// Why a trial is invalid. The sentence of each, and what helps, are the package's
// (natxy/model/reason.py).
enum class ReasonCode : std::uint8_t {
  kLinkDown,
  kLinkFell,
  kRxErrors,
  kClockError,
  kUnstamped,
  kImplausibleStamps,
  kPortRefused,
  kRxMissed,
  kRxNoBuffer,
  kTxErrors,
  kKernelRxDropped,
  kRecordsLost,
  kLeftLate,
  kGaveUpLate,
  kGaveUpPaused,
  kRingFull,
  kTwoQueues,
  kTooManyAddresses,
};

struct Reason {
  ReasonCode code = ReasonCode::kLinkDown;
  std::string where;                    // the name of a direction, or of the port's side
  std::map<std::string, double> facts;  // by names that end in their unit
};

using Interval = std::array<std::uint64_t, 2>;  // from, until; or the first number and the last one
using LostRun = std::array<std::uint64_t, 3>;   // first number, span, how many of it are lost
// Number, delay in ns, and by how much it may be too long: its send call and its poll gap.
using TaggedArrival = std::array<std::uint64_t, 3>;
using LowDelay = std::array<std::uint64_t, 2>;  // first number of a stretch, its lowest delay in ns

struct DistributionBucket {
  double lower_ns = 0;  // both ends included; equal if the bucket is one tick wide
  double upper_ns = 0;
  std::uint64_t count = 0;
};

// A distribution of durations in nanoseconds. Minimum and maximum are exact to a clock tick. The
// bucket of a delay is at most 2^-10 of its distance from the minimum wide, or one tick.
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

struct Misdelivered {           // counted by the first check that failed, in this order
  std::uint64_t malformed = 0;  // wrong IP version, protocol or lengths
  std::uint64_t checksum = 0;   // IPv4 header checksum, or that of UDP or TCP
  std::uint64_t number = 0;     // a number, stream or direction that was not sent to this port
  std::uint64_t length = 0;
  std::uint64_t tunnel = 0;  // the addresses of the outer header
  std::uint64_t address = 0;
  std::uint64_t port = 0;
  std::uint64_t sequence = 0;  // sequence or acknowledgement number of TCP
  std::uint64_t hop_limit = 0;
  std::uint64_t traffic_class = 0;  // or flow label, if the spec asks for them to be kept
  // A VLAN tag, an extension header, or flags, window, urgent pointer or option of TCP.
  std::uint64_t header = 0;
  [[nodiscard]] std::uint64_t total() const {
    return malformed + checksum + number + length + tunnel + address + port + sequence + hop_limit +
           traffic_class + header;
  }
};

// The tagged frames of a stream, of both kinds of traffic.
struct TagCounters {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t lost = 0;              // sent - received
  std::vector<TaggedArrival> arrived;  // in ascending order of numbers
  std::vector<std::uint64_t> lost_numbers;
};

// The frames that did not arrive; times are their due times since the phase's start.
struct Losses {
  std::uint64_t frames = 0;
  std::uint64_t first_number = 0;
  std::uint64_t last_number = 0;
  double first_due_ns = 0;
  double last_due_ns = 0;
  std::uint64_t gaps = 0;         // runs of lost frames with consecutive numbers
  std::uint64_t longest_run = 0;  // number of lost frames with consecutive numbers
  double longest_run_from_ns = 0;
  double longest_run_until_ns = 0;  // due time of the first frame after the run
};

// The longest time without an arrival, from and until since the phase's start (the timestamp method
// of RFC 6201).
struct Silence {
  double from_ns = 0;
  double until_ns = 0;
};

// IPDV: the signed differences D(i) - D(i-1). A pair with a missing frame is undefined (RFC 8219
// 7.3.2).
struct DelayVariation {
  std::uint64_t undefined = 0;
  Distribution distribution;
};

// Counters of one kind of traffic in one direction of one phase.
struct KindCounters {
  // Frames offered to the gateway: accepted by the port, or refused by the gateway's ring.
  std::uint64_t sent = 0;
  std::uint64_t received = 0;  // each number once, correct in every check, in time
  std::uint64_t lost = 0;      // sent - received
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;             // RFC 4737's singleton metric; a part of received
  std::uint64_t without_udp_checksum = 0;  // UDP checksum 0 over IPv4; a part of received
  std::uint64_t late = 0;                  // after the frame timeout, or older than the window
  Misdelivered misdelivered;
  std::uint8_t hop_limit = 0;         // on arrival; 0: no frame arrived
  std::uint64_t negative_delays = 0;  // delays below 0, which were set to 0
  Distribution delay;
  std::optional<DelayVariation> ipdv;  // present if the spec asks for it
};

// Counters of a stream's arrivals by what they show about their connections.
struct ConnectionCounters {
  std::uint64_t stored = 0;   // new connections, stored in the state table; JSON: "new"
  std::uint64_t known = 0;    // the mapping is the stored one; replies: delivered correctly
  std::uint64_t changed = 0;  // the mapping differs from the stored one, which is replaced
  std::uint64_t wrong = 0;    // replies delivered to another connection; a part of misdelivered
  std::uint64_t collided =
      0;  // a part of wrong: both connections have the same external four-tuple
  double ending_new_percent = 0;  // share of new ones in the last 1 % of an establishing stream
};

// The distribution of a count over hosts, or over addresses; all 0 if there are none. Median and
// percentile are those of RFC 2330, 11.3.
struct CountSummary {
  std::uint64_t min = 0;
  double median = 0;
  std::uint64_t p99 = 0;
  std::uint64_t max = 0;
};

// How the gateway has given out its external addresses and ports to the hosts inside, by what the
// state table has at the end of the trial.
struct Mappings {
  std::uint64_t hosts = 0;      // inside addresses that have a connection
  std::uint64_t addresses = 0;  // external ones
  std::uint64_t ports = 0;      // external pairs of an address and a port
  CountSummary hosts_per_address;
  CountSummary ports_per_address;
  CountSummary connections_per_address;
  CountSummary ports_per_host;
  CountSummary connections_per_host;
  CountSummary addresses_per_host;  // 1 to 1: a host always has the same address (RFC 4787 REQ-2)
  // The largest power of two for which no block of so many ports of an address, aligned to its
  // size, has the ports of two hosts; 65,536 if no address has two hosts, 0 if two hosts have the
  // same port of an address.
  std::uint64_t block_ports = 0;
  CountSummary blocks_per_host;  // blocks of this size, or ports if it is 0
};

// The tester's state table.
struct ConnectionTable {
  std::uint64_t asked = 0;   // entries that the spec asks for
  std::uint64_t stored = 0;  // connections in it
  std::uint64_t bytes = 0;
  std::uint64_t page_bytes = 0;
  std::optional<Mappings> mappings;  // present if the spec asks for them
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
};

struct Pauses {
  std::uint64_t count = 0;
  double total_ns = 0;  // if several senders share a direction: of the one that paused longest
  double longest_ns = 0;
  // Ascending. A number is due by its segment, plus the pauses of its sender at or before it. At
  // most 4,096 (see spec/runs.hpp): those that are joined stand at the first one, with their sum.
  std::vector<Pause> at;
};

struct StreamResult {
  std::string phase;
  Direction direction = Direction::kForward;
  std::uint64_t due = 0;  // frames that the spec asks for
  // Number i is sent by sender i mod senders.
  unsigned senders = 0;
  // Frames refused because the gateway's ring was full; a part of sent and of lost.
  std::uint64_t refused_by_gateway = 0;
  std::uint64_t refused_by_port = 0;  // refused because the tester's port was full; sent again
  std::uint64_t largest_burst = 0;    // most frames that left without a wait for a due time
  Pauses pauses;
  // The first and the last number of runs that left more than 50 us after they were due by the
  // current schedule, which pauses have moved. Of the numbers between them, those of the same
  // sender left late. Ascending by the first number. At most 4,096: more are joined.
  std::vector<Interval> late_runs;
  std::uint64_t start_raw_ns = 0;  // of the phase, by CLOCK_MONOTONIC_RAW
  double sending_ns = 0;           // from the first departure to the last one
  double first_departure_ns = 0;   // since the trial's start
  Distribution lateness;
  Distribution send_call;  // duration of the port's send call, which is a part of each delay
  // Upper bounds, per frame, of the tester's part in a delay: the time since the poll before the
  // one that found the frame, and the time until its sender's next step.
  Distribution poll_gap;
  Distribution step_gap;
  // How long the gateway held the frames back at the end: (last arrival - last departure) -
  // shortest delay. It is limited to 10/9 of the growth of the shortest delay from the first tenth
  // of the frames to the last tenth, because only a growing queue makes the shortest delay longer.
  double held_back_ns = 0;
  // The same without that limit: ordinary variation of delays is in it, and so is an absence of the
  // gateway at the end of the trial, which gave it more time than the trial's rate leaves.
  double last_delay_excess_ns = 0;
  // The most frames that may have waited for a poll at once; 0 if the port's ring held them all.
  std::uint64_t overrun_frames = 0;
  // Late frames that may have arrived in time, because of the poll gap; 0 if the port stamps them.
  std::uint64_t uncertain_late = 0;
  std::array<std::optional<KindCounters>, 2> kinds;  // by Kind; absent if the stream has none
  std::optional<TagCounters> tags;                   // present if the spec asks for tags
  std::optional<Losses> losses;                      // absent if no frame was lost
  // Runs of the numbers that `losses` counts: of which no correct frame came within the window. A
  // misdelivered frame is one of them, but not one that came after the frame timeout. Ascending,
  // and the third values add up to losses.frames. At most 4,096: more are joined, then some numbers
  // between the first and the last one arrived.
  std::vector<LostRun> lost_runs;
  // The lowest delay of each of at most 320 equal stretches of numbers, without those of which no
  // frame arrived. A reordered frame may count for a stretch next to its own.
  std::vector<LowDelay> low_delays;
  Silence silence;
  std::optional<ConnectionCounters> connections;  // absent in a stateless trial
};

struct WorkerResult {
  std::string phase;
  int cpu = 0;
  std::vector<std::string> tasks;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  double worst_loop_gap_ns = 0;
  // Rounds of its loop that took longer than 0.1 ms, in ns since the phase's start, by the clock of
  // the due times. Ascending. At most 4,096: more are joined.
  std::vector<Interval> away_at;
  double cpu_ns = 0;
  double off_core_ns = 0;  // time of the phase in which the thread did not run
};

// The absences of a watched CPU in one phase, until its last frame left and arrived: the time in
// which it ran something else than the gateway, or did not run because the host had taken it. Upper
// bounds, to within a sampling period.
struct WatchResult {
  std::string phase;
  int cpu = 0;
  double period_ns = 0;
  std::uint64_t samples = 0;
  std::uint64_t busy_samples = 0;  // those that found the CPU at the gateway's work
  std::uint64_t absences = 0;
  double away_ns = 0;
  double longest_away_ns = 0;
  // From when until when it was away, in ns since the phase's start, with which its due times
  // begin. Ascending. At most 4,096: more are joined.
  std::vector<Interval> away_at;
  // How long before the last frame left an absence began that lasted to the end of the drain: what
  // came in this time was still waiting then. 0: the CPU was the gateway's at the end.
  double end_away_ns = 0;
  // How the host had placed the tester's first CPU and this one, the worse of before and after the
  // phase: the time of a cache line from one to the other and back, and those of a piece of work
  // that fills a core and of a chain of operations that does not, on the CPU that other work slows
  // down more, while both did them. 0: could not be measured.
  double round_trip_ns = 0;
  double work_ns = 0;
  double chain_ns = 0;
  // CPU time, in the whole phase, of the tester's own thread that keeps this CPU awake: the kernel
  // counts it as busy.
  double kept_awake_ns = 0;
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
  std::vector<Reason> invalid_reasons;
  bool ended_early = false;  // see TrialSpec::early_end_ns
  bool incomplete = false;   // later phases did not run; see Phase::minimum_connections
  // Why a CPU was not watched, or not in one phase; empty if all were watched.
  std::string unwatched_reason;
  std::optional<ConnectionTable> connections;  // absent in a stateless trial
  double preparation_ns = 0;  // from the request to the first due time: neighbours, warm-up, ...
  double duration_ns = 0;     // from the first due time to the end of the last drain
  std::string delay_definition;
  // The clock of the arrivals: "tsc", "port" (each port's own), or one for each side.
  std::string delay_clock;
  std::vector<StreamResult> streams;
  std::vector<PortResult> ports;
  std::vector<WorkerResult> workers;
  std::vector<WatchResult> watched;
  std::vector<Fault> faults;
};

}  // namespace natxy::spec
