// The result of a trial: counters, distributions and what the tester itself did. It says whether
// the trial is valid; whether the DUT passed is decided by the package.
//
// The members are explained in natxy/model/trial_result.py and table_result.py, from which
// docs/reference/engine-members.md is made.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spec/members.hpp"
#include "spec/port_result.hpp"
#include "spec/stream_result.hpp"
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

  NATXY_MEMBERS(code, where, facts)
};

// The distribution of a count over hosts, or over addresses; all 0 if there are none. Median and
// percentile are those of RFC 2330, 11.3.
struct CountSummary {
  std::uint64_t min = 0;
  double median = 0;
  std::uint64_t p99 = 0;
  std::uint64_t max = 0;

  NATXY_MEMBERS(min, median, p99, max)
};

// How the gateway has given out its external addresses and ports to the hosts inside, by what the
// state table has at the end of the trial.
struct Mappings {
  std::uint64_t hosts = 0;
  std::uint64_t addresses = 0;
  std::uint64_t ports = 0;
  CountSummary hosts_per_address;
  CountSummary ports_per_address;
  CountSummary connections_per_address;
  CountSummary ports_per_host;
  CountSummary connections_per_host;
  CountSummary addresses_per_host;
  std::uint64_t block_ports = 0;
  CountSummary blocks_per_host;

  NATXY_MEMBERS(hosts, addresses, ports, hosts_per_address, ports_per_address,
                connections_per_address, ports_per_host, connections_per_host, addresses_per_host,
                block_ports, blocks_per_host)
};

// The tester's state table.
struct ConnectionTable {
  std::uint64_t asked = 0;
  std::uint64_t stored = 0;
  std::uint64_t bytes = 0;
  std::uint64_t page_bytes = 0;
  std::optional<Mappings> mappings;  // present if the spec asks for them

  NATXY_MEMBERS(asked, stored, bytes, page_bytes, mappings)
};

struct WorkerResult {
  std::string phase;
  int cpu = 0;
  std::vector<std::string> tasks;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  double worst_loop_gap_ns = 0;
  std::vector<Interval> away_at;  // ascending
  double cpu_ns = 0;
  double off_core_ns = 0;

  NATXY_MEMBERS(phase, cpu, tasks, voluntary_switches, involuntary_switches, worst_loop_gap_ns,
                away_at, cpu_ns, off_core_ns)
};

// The absences of a watched CPU in one phase, until its last frame left and arrived.
struct WatchResult {
  std::string phase;
  int cpu = 0;
  double period_ns = 0;
  std::uint64_t samples = 0;
  std::uint64_t busy_samples = 0;
  std::uint64_t absences = 0;
  double away_ns = 0;
  double longest_away_ns = 0;
  std::vector<Interval> away_at;  // ascending
  double end_away_ns = 0;
  double round_trip_ns = 0;
  double work_ns = 0;
  double chain_ns = 0;
  double kept_awake_ns = 0;
  std::string taken_by;
  double taken_ns = 0;

  NATXY_MEMBERS(phase, cpu, period_ns, samples, busy_samples, absences, away_ns, longest_away_ns,
                away_at, end_away_ns, round_trip_ns, work_ns, chain_ns, kept_awake_ns, taken_by,
                taken_ns)
};

struct Fault {  // an example of a misdelivered frame
  Side side = Side::kLeft;
  std::string reason;
  std::string frame_hex;

  NATXY_MEMBERS(side, reason, frame_hex)
};

struct TrialResult {
  int version = kVersion;
  std::uint64_t seed = 0;
  std::uint32_t nonce = 0;
  bool valid = true;
  std::vector<Reason> invalid_reasons;
  bool ended_early = false;      // see TrialSpec::early_end_ns
  bool incomplete = false;       // later phases did not run; see Phase::minimum_connections
  std::string unwatched_reason;  // empty if all CPUs were watched
  std::optional<ConnectionTable> connections;  // absent in a stateless trial
  double preparation_ns = 0;
  double duration_ns = 0;
  std::string delay_definition;
  std::string delay_clock;
  std::vector<StreamResult> streams;
  std::vector<PortResult> ports;
  std::vector<WorkerResult> workers;
  std::vector<WatchResult> watched;
  std::vector<Fault> faults;

  NATXY_MEMBERS(version, seed, nonce, valid, invalid_reasons, ended_early, incomplete,
                unwatched_reason, connections, preparation_ns, duration_ns, delay_definition,
                delay_clock, streams, ports, workers, watched, faults)
};

}  // namespace natxy::spec
