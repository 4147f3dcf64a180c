#include <nlohmann/json.hpp>

#include "gateway/json.hpp"

namespace natxy::gateway {
namespace {

using nlohmann::ordered_json;

ordered_json delay_json(const Histogram& delay_ns) {
  return {{"count", delay_ns.count()},       {"min", delay_ns.min()},
          {"max", delay_ns.max()},           {"p50", delay_ns.percentile(500)},
          {"p99", delay_ns.percentile(990)}, {"p999", delay_ns.percentile(999)}};
}

template <typename Counters, typename Names>
ordered_json counters_json(const Counters& counters, const Names& names) {
  auto object = ordered_json::object();
  for (std::size_t i = 0; i < counters.size(); ++i) object[names[i]] = counters[i];
  return object;
}

ordered_json direction_json(const DirectionRecord& record) {
  return {{"received", record.received},
          {"forwarded", record.forwarded},
          {"dropped", counters_json(record.dropped, kDropNames)},
          {"duplicated", record.duplicated},
          {"reordered", record.reordered},
          {"corrupted", counters_json(record.corrupted, kCorruptFieldNames)},
          {"sulk",
           {{"newest_overload_ns", record.sulk.newest_overload_ns},
            {"last_drop_ns", record.sulk.last_drop_ns},
            {"last_number", record.sulk.last_number}}},
          {"delay_ns", delay_json(record.delay_ns)}};
}

ordered_json nat_json(const std::optional<NatRecord>& nat) {
  if (!nat) return nullptr;
  return {{"created", nat->created},
          {"refused",
           {{"full", nat->refused_full},
            {"rate", nat->refused_rate},
            {"limit", nat->refused_limit},
            {"ports", nat->refused_ports}}},
          {"overwritten", nat->overwritten},
          {"expired", nat->expired},
          {"flushed", nat->flushed},
          {"collided", nat->collided},
          {"forgotten", nat->forgotten},
          {"changed", nat->changed},
          {"entries", nat->entries},
          {"peak", nat->peak},
          {"translated", {{"outbound", nat->outbound}, {"inbound", nat->inbound}}}};
}

ordered_json absences_json(const Absences& absences) {
  auto list = ordered_json::array();
  for (const auto& [from_ns, until_ns] : absences.intervals()) {
    list.push_back(ordered_json::array({from_ns, until_ns}));
  }
  return list;
}

ordered_json record_json(const Record& record) {
  const auto& polls = record.polls;
  return {{"directions",
           {{"forward", direction_json(record.of(Direction::kForward))},
            {"reverse", direction_json(record.of(Direction::kReverse))}}},
          {"worst_poll_gap_ns", polls.worst_gap_ns()},
          {"away_ns", polls.away_ns()},
          {"absences", absences_json(polls.absences())},
          {"poll_gaps_over_idle", polls.gaps_over_idle()},
          {"polls", polls.polls()},
          {"muted_ns", record.muted_ns},
          {"nat", nat_json(record.nat)},
          {"since_ns", record.taken_ns - polls.since_ns()}};
}

}  // namespace

std::string hello_event(const std::array<PortDescription, 2>& ports) {
  auto list = ordered_json::array();
  for (const auto& port : ports) {
    list.push_back({{"side", name_of(port.side)},
                    {"device", port.device},
                    {"driver", port.driver},
                    {"mac", to_text(port.mac)}});
  }
  return ordered_json{
      {"event", "hello"}, {"protocol", 1}, {"gateway_version", NATXY_VERSION}, {"ports", list}}
      .dump();
}

std::string flushed_event(std::uint64_t entries, Nanoseconds ns) {
  return ordered_json{{"event", "flushed"}, {"entries", entries}, {"ns", ns}}.dump();
}

std::string count_event(std::uint64_t entries) {
  return ordered_json{{"event", "count"}, {"entries", entries}}.dump();
}

std::string done_event(std::string_view name) {
  return ordered_json{{"event", name}}.dump();
}

std::string record_event(const Record& record) {
  return ordered_json{{"event", "record"}, {"record", record_json(record)}}.dump();
}

std::string error_event(std::string_view message) {
  return ordered_json{{"event", "error"}, {"message", message}}.dump(
      -1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace natxy::gateway
