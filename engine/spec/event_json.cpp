#include <utility>

#include "plumbing/json_value.hpp"
#include "spec/json.hpp"
#include "spec/names.hpp"

namespace natxy::spec {
namespace {

using plumbing::Json;

// Writes JSON as one line. Replaces invalid UTF-8, which names from outside (an interface, the
// kernel, a wrong request) may contain.
std::string line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json by_direction(const std::array<std::uint64_t, 2>& values) {
  return {{"forward", values[0]}, {"reverse", values[1]}};
}

Json json_of(const Distribution& of) {
  auto buckets = Json::array();
  for (const auto& [lower_ns, upper_ns, count] : of.buckets) {
    buckets.push_back(Json::array({lower_ns, upper_ns, count}));
  }
  return {{"count", of.count},     {"min_ns", of.min_ns},   {"max_ns", of.max_ns},
          {"mean_ns", of.mean_ns}, {"p50_ns", of.p50_ns},   {"p90_ns", of.p90_ns},
          {"p99_ns", of.p99_ns},   {"p999_ns", of.p999_ns}, {"buckets", std::move(buckets)}};
}

Json json_of(const Misdelivered& of) {
  return {{"malformed", of.malformed}, {"checksum", of.checksum},
          {"number", of.number},       {"length", of.length},
          {"tunnel", of.tunnel},       {"address", of.address},
          {"port", of.port},           {"sequence", of.sequence},
          {"hop_limit", of.hop_limit}, {"traffic_class", of.traffic_class},
          {"header", of.header},       {"total", of.total()}};
}

Json json_of(const DelayVariation& of) {
  return {{"undefined", of.undefined}, {"distribution", json_of(of.distribution)}};
}

Json json_of(const TagCounters& of) {
  return {{"sent", of.sent},
          {"received", of.received},
          {"lost", of.lost},
          {"delay", json_of(of.delay)},
          {"poll_gap", json_of(of.poll_gap)},
          {"step_gap", json_of(of.step_gap)}};
}

Json json_of(const Losses& of) {
  return {{"frames", of.frames},
          {"first_number", of.first_number},
          {"last_number", of.last_number},
          {"first_due_ns", of.first_due_ns},
          {"last_due_ns", of.last_due_ns},
          {"longest_run", of.longest_run},
          {"longest_run_from_ns", of.longest_run_from_ns},
          {"longest_run_until_ns", of.longest_run_until_ns}};
}

Json json_of(const Silence& of) {
  return {{"from_ns", of.from_ns}, {"until_ns", of.until_ns}};
}

Json json_of(const ConnectionCounters& of) {
  return {{"new", of.stored},        {"known", of.known},
          {"changed", of.changed},   {"wrong", of.wrong},
          {"collided", of.collided}, {"ending_new_percent", of.ending_new_percent}};
}

Json json_of(const CountSummary& of) {
  return {{"min", of.min}, {"median", of.median}, {"p99", of.p99}, {"max", of.max}};
}

Json json_of(const Mappings& of) {
  return {{"hosts", of.hosts},
          {"addresses", of.addresses},
          {"ports", of.ports},
          {"hosts_per_address", json_of(of.hosts_per_address)},
          {"ports_per_address", json_of(of.ports_per_address)},
          {"connections_per_address", json_of(of.connections_per_address)},
          {"ports_per_host", json_of(of.ports_per_host)},
          {"connections_per_host", json_of(of.connections_per_host)},
          {"addresses_per_host", json_of(of.addresses_per_host)},
          {"block_ports", of.block_ports},
          {"blocks_per_host", json_of(of.blocks_per_host)}};
}

Json json_of(const ConnectionTable& of) {
  return {{"asked", of.asked},
          {"stored", of.stored},
          {"bytes", of.bytes},
          {"page_bytes", of.page_bytes},
          {"mappings", of.mappings ? json_of(*of.mappings) : Json()}};
}

Json json_of(const KindCounters& of) {
  return {{"sent", of.sent},
          {"received", of.received},
          {"lost", of.lost},
          {"duplicated", of.duplicated},
          {"reordered", of.reordered},
          {"without_udp_checksum", of.without_udp_checksum},
          {"late", of.late},
          {"misdelivered", json_of(of.misdelivered)},
          {"hop_limit", of.hop_limit},
          {"negative_delays", of.negative_delays},
          {"delay", json_of(of.delay)},
          {"ipdv", of.ipdv ? json_of(*of.ipdv) : Json()}};
}

template <typename Element>
Json json_of(const std::optional<Element>& of) {
  return of ? json_of(*of) : Json();
}

Json json_of(const StreamResult& of) {
  Json kinds;
  for (const auto& [name, kind] : kKinds) {
    kinds[name] = json_of(of.kinds[static_cast<std::size_t>(kind)]);
  }
  return {{"phase", of.phase},
          {"direction", name_of(kDirections, of.direction)},
          {"due", of.due},
          {"refused_by_gateway", of.refused_by_gateway},
          {"refused_by_port", of.refused_by_port},
          {"largest_burst", of.largest_burst},
          {"pauses",
           {{"count", of.pauses.count},
            {"total_ns", of.pauses.total_ns},
            {"longest_ns", of.pauses.longest_ns}}},
          {"sending_ns", of.sending_ns},
          {"first_departure_ns", of.first_departure_ns},
          {"lateness", json_of(of.lateness)},
          {"send_call", json_of(of.send_call)},
          {"poll_gap", json_of(of.poll_gap)},
          {"step_gap", json_of(of.step_gap)},
          {"held_back_ns", of.held_back_ns},
          {"last_delay_excess_ns", of.last_delay_excess_ns},
          {"overrun_frames", of.overrun_frames},
          {"uncertain_late", of.uncertain_late},
          {"kinds", std::move(kinds)},
          {"tags", json_of(of.tags)},
          {"losses", json_of(of.losses)},
          {"silence", json_of(of.silence)},
          {"connections", json_of(of.connections)}};
}

Json json_of(const IcmpErrorCount& of) {
  return {{"ip_version", static_cast<int>(of.ip_version)},
          {"type", of.type},
          {"code", of.code},
          {"mtu", of.mtu == 0 ? Json() : Json(of.mtu)},
          {"source", of.source},
          {"count", of.count},
          {"example", of.example_hex}};
}

Json json_of(const std::vector<IcmpErrorCount>& of) {
  auto list = Json::array();
  for (const auto& sort : of) list.push_back(json_of(sort));
  return list;
}

Json json_of(const PortResult& of) {
  return {{"side", name_of(kSides, of.side)},
          {"foreign", of.foreign},
          {"neighbour", of.neighbour},
          {"queue_received", of.queue_received},
          {"rx_missed", of.rx_missed},
          {"rx_errors", of.rx_errors},
          {"rx_no_buffer", of.rx_no_buffer},
          {"tx_errors", of.tx_errors},
          {"kernel_rx_dropped", of.kernel_rx_dropped},
          {"link_downs", of.link_downs},
          {"records_lost", of.records_lost},
          {"worst_poll_gap_ns", of.worst_poll_gap_ns},
          {"clock_error_ns", of.clock.own ? Json(of.clock.error_ns) : Json()},
          {"unstamped", of.clock.unstamped},
          {"implausible_stamps", of.clock.implausible},
          {"icmp_errors", json_of(of.icmp.listed)},
          {"icmp_errors_unlisted", of.icmp.unlisted},
          {"icmp_errors_of_others", of.icmp.of_others}};
}

Json json_of(const WorkerResult& of) {
  return {{"cpu", of.cpu},
          {"tasks", of.tasks},
          {"voluntary_switches", of.voluntary_switches},
          {"involuntary_switches", of.involuntary_switches},
          {"worst_loop_gap_ns", of.worst_loop_gap_ns},
          {"cpu_ns", of.cpu_ns},
          {"off_core_ns", of.off_core_ns}};
}

Json json_of(const WatchResult& of) {
  return {{"phase", of.phase},
          {"cpu", of.cpu},
          {"period_ns", of.period_ns},
          {"samples", of.samples},
          {"busy_samples", of.busy_samples},
          {"absences", of.absences},
          {"away_ns", of.away_ns},
          {"longest_away_ns", of.longest_away_ns},
          {"end_away_ns", of.end_away_ns},
          {"round_trip_ns", of.round_trip_ns},
          {"work_ns", of.work_ns},
          {"chain_ns", of.chain_ns}};
}

Json json_of(const Fault& of) {
  return {{"side", name_of(kSides, of.side)}, {"reason", of.reason}, {"frame_hex", of.frame_hex}};
}

Json json_of(const PortInfo& of) {
  return {{"side", name_of(kSides, of.side)},
          {"device", of.device},
          {"driver", of.driver},
          {"interface", of.interface.empty() ? Json() : Json(of.interface)},
          {"mac", of.mac},
          {"mtu_bytes", of.mtu_bytes},
          {"link_speed_mbps", of.link_speed_mbps},
          {"rx_ring_frames", of.rx_ring_frames},
          {"refusal", name_of(kRefusals, of.refusal)},
          {"offloads", of.offloads},
          {"numa_node", of.numa_node}};
}

template <typename Element>
Json json_of(const std::vector<Element>& elements) {
  auto list = Json::array();
  for (const auto& element : elements) list.push_back(json_of(element));
  return list;
}

Json json_of(const TrialResult& of) {
  return {{"version", of.version},
          {"seed", of.seed},
          {"nonce", of.nonce},
          {"valid", of.valid},
          {"invalid_reasons", of.invalid_reasons},
          {"ended_early", of.ended_early},
          {"incomplete", of.incomplete},
          {"connections", json_of(of.connections)},
          {"preparation_ns", of.preparation_ns},
          {"duration_ns", of.duration_ns},
          {"delay_definition", of.delay_definition},
          {"delay_clock", of.delay_clock},
          {"streams", json_of(of.streams)},
          {"ports", json_of(of.ports)},
          {"workers", json_of(of.workers)},
          {"watched", json_of(of.watched)},
          {"unwatched_reason", of.unwatched_reason},
          {"faults", json_of(of.faults)}};
}

Json workers_json(const std::vector<int>& cpus) {
  auto list = Json::array();
  for (const int cpu : cpus) list.push_back({{"cpu", cpu}});
  return list;
}

}  // namespace

std::string hello_event(const Hello& hello) {
  return line({{"event", "hello"},
               {"protocol", kProtocol},
               {"engine_version", hello.engine_version},
               {"dpdk_version", hello.dpdk_version},
               {"tsc_hz", hello.tsc_hz},
               {"tsc_invariant", hello.tsc_invariant},
               {"huge_pages", hello.huge_pages},
               {"realtime_allowed", hello.realtime_allowed},
               {"cpu_model", hello.cpu_model},
               {"kernel", hello.kernel},
               {"main_cpus", hello.main_cpus},
               {"workers", workers_json(hello.worker_cpus)},
               {"ports", json_of(hello.ports)}});
}

std::string progress_event(std::uint64_t id, const Progress& progress) {
  return line({{"event", "progress"},
               {"id", id},
               {"stage", name_of(kStages, progress.stage)},
               {"elapsed_ns", progress.elapsed_ns},
               {"duration_ns", progress.duration_ns},
               {"sent", by_direction(progress.sent)},
               {"received", by_direction(progress.received)}});
}

std::string result_event(std::uint64_t id, const TrialResult& result) {
  return line({{"event", "result"}, {"id", id}, {"result", json_of(result)}});
}

std::string error_event(const ErrorEvent& error) {
  Json json = {
      {"event", "error"}, {"kind", name_of(kErrorKinds, error.kind)}, {"message", error.message}};
  if (error.id) json["id"] = *error.id;
  auto icmp = Json::array();
  for (const auto& [name, side] : kSides) {
    for (const auto& sort : error.icmp[static_cast<std::size_t>(side)]) {
      icmp.push_back({{"side", name}, {"error", json_of(sort)}});
    }
  }
  if (!icmp.empty()) json["icmp_errors"] = icmp;
  return line(json);
}

}  // namespace natxy::spec
