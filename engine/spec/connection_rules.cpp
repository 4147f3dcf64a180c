#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "spec/names.hpp"
#include "spec/rules.hpp"

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
  const auto [role, order, segment, first] = connections;
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

// Returns which segments are possible with a role and an order. An initiator sends its SYN again to
// make a connection that is missing; a responder's SYN shows once for each connection that the
// initiator's was seen.
std::vector<TcpSegment> segments_of(const Connections& connections) {
  using enum TcpSegment;
  const auto [role, order, segment, first] = connections;
  if (role == Role::kEstablish) return {kSyn};
  if (role == Role::kInitiate && order == Order::kMissing) return {kSyn};
  if (role == Role::kInitiate) return {kAck, kFin, kLastAck, kRst};
  if (order == Order::kMissing) return {kSyn};
  if (order == Order::kLinear) return {kSyn, kAck, kFin, kRst};
  return {kAck, kFin, kRst};
}

void check_segment(const Traffic& traffic, const std::string& member) {
  const auto& connections = *traffic.connections;
  const bool tcp = traffic.departure.transport == Transport::kTcp;
  std::string expected;
  for (const auto segment : segments_of(connections)) {
    if (tcp && segment == connections.segment) return;
    expected += (expected.empty() ? "" : " or ") + name_of(kTcpSegments, segment);
  }
  if (!tcp && !connections.segment) return;
  if (!tcp)
    throw SpecError(member + ".segment", "is given, but the frames are UDP (expected null)");
  if (!connections.segment) {
    throw SpecError(member + ".segment",
                    "is missing, but the frames are TCP (expected " + expected + ")");
  }
  throw SpecError(member + ".segment",
                  name_of(kTcpSegments, *connections.segment) + " is not possible with the role " +
                      name_of(kRoles, connections.role) + " and the order " +
                      name_of(kOrders, connections.order) + " (expected " + expected + ")");
}

// Checks what all frames of connections share with those that establish them. same_way: whether
// they have the same direction.
void check_like(const Traffic& establishing, const Traffic& traffic, bool same_way,
                const std::string& member) {
  const auto expected = establishing.departure.transport;
  if (traffic.departure.transport != expected) {
    throw SpecError(member + ".departure.transport",
                    name_of(kTransports, traffic.departure.transport) +
                        " differs from that of the establishing stream (expected " +
                        name_of(kTransports, expected) + ")");
  }
  if (same_ranges(establishing, traffic, !same_way)) return;
  throw SpecError(member + ".connections.role",
                  std::string("selection and ranges differ from those of the establishing stream "
                              "(expected the same") +
                      (same_way ? "" : ", with source and destination swapped") + ")");
}

void check_role(const Stream& stream, const Stream* establishing, const std::string& stream_path) {
  if (!stream.foreground || !stream.foreground->connections) return;
  const auto& connections = *stream.foreground->connections;
  const auto member = stream_path + ".foreground.connections";
  check_order(connections, member);
  check_segment(*stream.foreground, member);
  if (connections.first != 0) {
    throw SpecError(member + ".first", std::to_string(connections.first) +
                                           " is not possible in foreground traffic (expected 0)");
  }
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
  check_like(*establishing->foreground, *stream.foreground, same_way, stream_path + ".foreground");
}

// Background frames of the last phase may create connections that phase 1 did not, while the
// foreground uses those of phase 1. Later phases would have to know which of them were lost.
void check_background(const Stream& stream, const Stream* establishing, bool last,
                      const std::string& stream_path) {
  if (!stream.background || !stream.background->connections) return;
  const auto& connections = *stream.background->connections;
  const auto member = stream_path + ".background.connections";
  const bool creates = connections.role == Role::kEstablish && connections.order == Order::kLinear;
  if (establishing == nullptr || !last || !creates || stream.direction != establishing->direction) {
    throw SpecError(member,
                    "is not possible here (expected null, or the role establish and the order "
                    "linear, in the last phase and in the direction of the establishing stream)");
  }
  const auto least = connections_of(*establishing);
  if (connections.first < least) {
    throw SpecError(member + ".first", std::to_string(connections.first) +
                                           " is a connection of phase 1 (expected " +
                                           std::to_string(least) + " or more)");
  }
  check_segment(*stream.background, member);
  check_like(*establishing->foreground, *stream.background, true, stream_path + ".background");
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
      const auto path = "phases[" + std::to_string(i) + "].streams[" + std::to_string(j) + "]";
      check_role(streams[j], establishing, path);
      check_background(streams[j], establishing, i > 0 && i + 1 == spec.phases.size(), path);
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

std::uint64_t entries_of(const TrialSpec& spec) {
  const auto* establishing = establishing_stream(spec);
  if (establishing == nullptr) return 0;
  auto entries = connections_of(*establishing);
  for (const auto& phase : spec.phases) {
    for (const auto& stream : phase.streams) {
      if (!stream.background || !stream.background->connections) continue;
      const auto end = stream.background->connections->first + frames_of(stream, Kind::kBackground);
      entries = std::max(entries, end);
    }
  }
  return entries;
}

}  // namespace natxy::spec
