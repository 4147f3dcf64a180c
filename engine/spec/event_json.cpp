#include <optional>

#include "plumbing/json_value.hpp"
#include "spec/json.hpp"
#include "spec/names.hpp"

// Writes an absent value as null.
template <typename T>
struct nlohmann::adl_serializer<std::optional<T>> {
  static void to_json(json& json, const std::optional<T>& value) {
    json = value ? nlohmann::json(*value) : nlohmann::json();
  }
};

// Writes members under their own names. The library's macro for a whole struct would read it too.
#define NATXY_MEMBER(name) json[#name] = value.name;
#define NATXY_MEMBERS(...) NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NATXY_MEMBER, __VA_ARGS__))
#define NATXY_STRUCT(Type, ...)                 \
  void to_json(Json& json, const Type& value) { \
    NATXY_MEMBERS(__VA_ARGS__)                  \
  }

namespace natxy::spec {

using plumbing::Json;

void to_json(Json& json, const DistributionBucket& value) {
  json = Json::array({value.lower_ns, value.upper_ns, value.count});
}

NATXY_STRUCT(Distribution, count, min_ns, max_ns, mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, buckets)

void to_json(Json& json, const Misdelivered& value) {
  NATXY_MEMBERS(malformed, checksum, number, length, tunnel, address, port, sequence, hop_limit,
                traffic_class, header)
  json["total"] = value.total();
}

NATXY_STRUCT(DelayVariation, undefined, distribution)
NATXY_STRUCT(TagCounters, sent, received, lost, arrived, lost_numbers)
NATXY_STRUCT(Losses, frames, first_number, last_number, first_due_ns, last_due_ns, gaps,
             longest_run, longest_run_from_ns, longest_run_until_ns)
NATXY_STRUCT(Silence, from_ns, until_ns)

void to_json(Json& json, const ConnectionCounters& value) {
  NATXY_MEMBERS(known, changed, wrong, collided, ending_new_percent)
  json["new"] = value.stored;
}

NATXY_STRUCT(CountSummary, min, median, p99, max)
NATXY_STRUCT(Mappings, hosts, addresses, ports, hosts_per_address, ports_per_address,
             connections_per_address, ports_per_host, connections_per_host, addresses_per_host,
             block_ports, blocks_per_host)
NATXY_STRUCT(ConnectionTable, asked, stored, bytes, page_bytes, mappings)
NATXY_STRUCT(KindCounters, sent, received, lost, duplicated, reordered, without_udp_checksum, late,
             misdelivered, hop_limit, negative_delays, delay, ipdv)

void to_json(Json& json, const Pause& value) {
  json = Json::array({value.before_number, value.ns, name_of(kPauseReasons, value.why)});
}

NATXY_STRUCT(Pauses, count, total_ns, longest_ns, at)

void to_json(Json& json, const StreamResult& value) {
  NATXY_MEMBERS(phase, due, senders, refused_by_gateway, refused_by_port, largest_burst, pauses,
                late_runs, start_raw_ns, sending_ns, first_departure_ns, lateness, send_call,
                poll_gap, step_gap, held_back_ns, last_delay_excess_ns, overrun_frames,
                uncertain_late, tags, losses, lost_runs, low_delays, silence, connections)
  json["direction"] = name_of(kDirections, value.direction);
  for (const auto& [name, kind] : kKinds) {
    json["kinds"][name] = value.kinds[static_cast<std::size_t>(kind)];
  }
}

void to_json(Json& json, const IcmpErrorCount& value) {
  NATXY_MEMBERS(type, code, source, count)
  json["ip_version"] = static_cast<int>(value.ip_version);
  json["mtu"] = value.mtu == 0 ? Json() : Json(value.mtu);
  json["example"] = value.example_hex;
}

NATXY_STRUCT(PortCounters, rx_missed, rx_errors, rx_no_buffer, tx_errors, kernel_rx_dropped,
             link_downs)

void to_json(Json& json, const PortResult& value) {
  json = value.counters;
  NATXY_MEMBERS(foreign, neighbour, queue_received, records_lost, worst_poll_gap_ns)
  json["side"] = name_of(kSides, value.side);
  json["clock_error_ns"] = value.clock.own ? Json(value.clock.error_ns) : Json();
  json["unstamped"] = value.clock.unstamped;
  json["implausible_stamps"] = value.clock.implausible;
  json["icmp_errors"] = value.icmp.listed;
  json["icmp_errors_unlisted"] = value.icmp.unlisted;
  json["icmp_errors_of_others"] = value.icmp.of_others;
}

NATXY_STRUCT(WorkerResult, phase, cpu, tasks, voluntary_switches, involuntary_switches,
             worst_loop_gap_ns, away_at, cpu_ns, off_core_ns)
NATXY_STRUCT(WatchResult, phase, cpu, period_ns, samples, busy_samples, absences, away_ns,
             longest_away_ns, away_at, end_away_ns, round_trip_ns, work_ns, chain_ns, kept_awake_ns)

void to_json(Json& json, const Fault& value) {
  NATXY_MEMBERS(reason, frame_hex)
  json["side"] = name_of(kSides, value.side);
}

void to_json(Json& json, const Reason& value) {
  NATXY_MEMBERS(where, facts)
  json["code"] = name_of(kReasonCodes, value.code);
}

NATXY_STRUCT(TrialResult, version, seed, nonce, valid, invalid_reasons, ended_early, incomplete,
             connections, preparation_ns, duration_ns, delay_definition, delay_clock, streams,
             ports, workers, watched, unwatched_reason, faults)

void to_json(Json& json, const PortInfo& value) {
  NATXY_MEMBERS(device, driver, mac, mtu_bytes, link_speed_mbps, rx_ring_frames, offloads,
                numa_node)
  json["side"] = name_of(kSides, value.side);
  json["refusal"] = name_of(kRefusals, value.refusal);
  json["interface"] = value.interface.empty() ? Json() : Json(value.interface);
}

void to_json(Json& json, const Hello& value) {
  NATXY_MEMBERS(engine_version, dpdk_version, variant, tsc_hz, tsc_invariant, huge_pages,
                realtime_allowed, cpu_model, kernel, main_cpus, ports)
  json["protocol"] = kProtocol;
  json["workers"] = Json::array();
  for (const int cpu : value.worker_cpus) json["workers"].push_back({{"cpu", cpu}});
}

void to_json(Json& json, const Progress& value) {
  NATXY_MEMBERS(elapsed_ns, duration_ns)
  json["stage"] = name_of(kStages, value.stage);
  json["sent"] = {{"forward", value.sent[0]}, {"reverse", value.sent[1]}};
  json["received"] = {{"forward", value.received[0]}, {"reverse", value.received[1]}};
}

void to_json(Json& json, const ErrorEvent& value) {
  NATXY_MEMBERS(message)
  json["kind"] = name_of(kErrorKinds, value.kind);
  if (value.id) json["id"] = *value.id;
  for (const auto& [name, side] : kSides) {
    for (const auto& sort : value.icmp[static_cast<std::size_t>(side)]) {
      json["icmp_errors"].push_back({{"side", name}, {"error", sort}});
    }
  }
}

namespace {

// Returns an event as one line. Replaces invalid UTF-8, which names from outside (an interface, the
// kernel, a wrong request) may contain.
std::string line(const char* event, Json json) {
  json["event"] = event;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string hello_event(const Hello& hello) {
  return line("hello", hello);
}

std::string progress_event(std::uint64_t id, const Progress& progress) {
  Json json = progress;
  json["id"] = id;
  return line("progress", std::move(json));
}

std::string result_event(std::uint64_t id, const TrialResult& result) {
  return line("result", {{"id", id}, {"result", result}});
}

std::string error_event(const ErrorEvent& error) {
  return line("error", error);
}

}  // namespace natxy::spec
