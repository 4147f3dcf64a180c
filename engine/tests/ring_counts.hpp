// The counters of faults in a trial, by name. A test names all that are expected, and so also tests
// that there are no others.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "run/words.hpp"
#include "spec/trial_result.hpp"

namespace natxy::tests {

using Counts = std::map<std::string, std::uint64_t>;

inline void put(Counts& counts, const std::string& name, std::uint64_t count) {
  if (count != 0) counts[name] = count;
}

// Puts each of the counters of a struct.
template <spec::Listed Counters>
void put_each(Counts& counts, const std::string& who, const Counters& of) {
  of.each_member([&](std::string_view name, std::uint64_t count) {
    put(counts, who + std::string(name), count);
  });
}

inline void put_kind(Counts& counts, const std::string& who, const spec::KindCounters& kind) {
  auto faults = static_cast<const spec::FrameCounters&>(kind);
  faults.sent = faults.received = faults.negative_delays = 0;
  put_each(counts, who, faults);
  put_each(counts, who, kind.misdelivered);
}

inline void put_stream(Counts& counts, const spec::StreamResult& stream) {
  const auto who = stream.phase + " " + run::words(stream.direction) + " ";
  put(counts, who + "refused_by_gateway", stream.refused_by_gateway);
  put(counts, who + "refused_by_port", stream.refused_by_port);
  for (std::size_t i = 0; i < stream.kinds.size(); ++i) {
    if (!stream.kinds[i]) continue;
    put_kind(counts, who + run::words(static_cast<spec::Kind>(i)) + " ", *stream.kinds[i]);
  }
}

inline void put_port(Counts& counts, const spec::PortResult& port) {
  const auto who = run::words(port.side) + " ";
  put(counts, who + "foreign", port.foreign);
  put(counts, who + "neighbour", port.neighbour);
  put_each(counts, who, port.counters);
}

// Returns all counters of faults that are not 0.
inline Counts wrongs(const spec::TrialResult& result) {
  Counts counts;
  for (const auto& stream : result.streams) put_stream(counts, stream);
  for (const auto& port : result.ports) put_port(counts, port);
  return counts;
}

inline std::uint64_t sent(const spec::StreamResult& stream) {
  std::uint64_t total = 0;
  for (const auto& kind : stream.kinds) total += kind ? kind->sent : 0;
  return total;
}

// Returns the number of the trial's frames that arrived, including defective ones.
inline std::uint64_t arrived(const spec::StreamResult& stream) {
  std::uint64_t total = 0;
  for (const auto& kind : stream.kinds) {
    if (!kind) continue;
    total += kind->received + kind->duplicated + kind->late + kind->misdelivered.total();
  }
  return total;
}

}  // namespace natxy::tests
