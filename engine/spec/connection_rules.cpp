#include "spec/connection_rules.hpp"

#include <string>
#include <tuple>

#include "spec/names.hpp"
#include "spec/spec_error.hpp"
#include "spec/traffic_rules.hpp"
#include "spec/validate.hpp"

namespace natxy::spec {
namespace {

bool same(const Series& a, const Series& b) {
  return a.mode == b.mode && a.min == b.min && a.max == b.max;
}

// Returns whether b enumerates the same four-tuples as a; swapped: with source and destination
// exchanged.
bool same_ranges(const Traffic& a, const Traffic& b, bool swapped) {
  const auto& [source, destination] = swapped ? std::tie(b.destination_port, b.source_port)
                                              : std::tie(b.source_port, b.destination_port);
  const auto& [source_field, destination_field] =
      swapped ? std::tie(b.destination_field, b.source_field)
              : std::tie(b.source_field, b.destination_field);
  return a.selection == b.selection && same(a.source_port, source) &&
         same(a.destination_port, destination) && same(a.source_field, source_field) &&
         same(a.destination_field, destination_field);
}

void check_order(const Connections& connections, const std::string& member) {
  const auto [role, order] = connections;
  const bool establishes = role == Role::kEstablish;
  const bool repeats = order == Order::kRepeating;
  if (establishes ? repeats || order == Order::kLinear : !repeats) return;
  throw SpecError(member + ".order",
                  name_of(kOrders, order) + " is not an order of the role " +
                      name_of(kRoles, role) + " (expected " +
                      (establishes ? "linear or repeating"
                                   : "linear, fixed, increasing, decreasing, pseudorandom or "
                                     "missing") +
                      ")");
}

void check_role(const Stream& stream, const Stream* establishing, const std::string& stream_path) {
  if (!stream.foreground || !stream.foreground->connections) return;
  const auto& connections = *stream.foreground->connections;
  const auto member = stream_path + ".foreground.connections";
  check_order(connections, member);
  if (&stream == establishing) return;
  if (connections.role == Role::kEstablish || establishing == nullptr) {
    throw SpecError(member + ".role",
                    name_of(kRoles, connections.role) +
                        " is not possible here (expected establish in one stream of the first "
                        "phase, initiate or respond in later phases)");
  }
  const bool same_way = stream.direction == establishing->direction;
  if (same_way != (connections.role == Role::kInitiate)) {
    throw SpecError(member + ".role", same_way
                                          ? "connections are established in this direction "
                                            "(expected initiate)"
                                          : "connections are established in the other direction "
                                            "(expected respond)");
  }
  if (same_ranges(*establishing->foreground, *stream.foreground, !same_way)) return;
  throw SpecError(member + ".role",
                  std::string("selection and ranges differ from those of the establishing stream "
                              "(expected the same") +
                      (same_way ? "" : ", with source and destination swapped") + ")");
}

}  // namespace

void check_connections(const TrialSpec& spec) {
  const auto* establishing = establishing_stream(spec);
  if (establishing != nullptr && spec.warm_up.mode == WarmUpMode::kProbes) {
    throw SpecError("warm_up.mode",
                    "probes would create connections of their own (expected neighbours)");
  }
  for (std::size_t i = 0; i < spec.phases.size(); ++i) {
    const auto& streams = spec.phases[i].streams;
    for (std::size_t j = 0; j < streams.size(); ++j) {
      check_role(streams[j], establishing,
                 "phases[" + std::to_string(i) + "].streams[" + std::to_string(j) + "]");
    }
  }
}

const Stream* establishing_stream(const TrialSpec& spec) {
  for (const auto& stream : spec.phases.front().streams) {
    const auto& traffic = stream.foreground;
    if (traffic && traffic->connections && traffic->connections->role == Role::kEstablish)
      return &stream;
  }
  return nullptr;
}

std::uint64_t connections_of(const Stream& stream) {
  const auto& traffic = *stream.foreground;
  if (traffic.connections->order == Order::kLinear) return frames_of(stream, Kind::kForeground);
  return values_of(traffic.source_port) * values_of(traffic.destination_port) *
         values_of(traffic.source_field) * values_of(traffic.destination_field);
}

}  // namespace natxy::spec
