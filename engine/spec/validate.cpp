#include "spec/validate.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "spec/connection_rules.hpp"
#include "spec/field_bits.hpp"
#include "spec/spec_error.hpp"

namespace natxy::spec {
namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
constexpr std::uint64_t kTooLong = kMaxTrialNs + 1;
constexpr const char* kKindNames[] = {"foreground", "background"};
constexpr const char* kSideNames[] = {"left", "right"};

std::string text(std::uint64_t value) {
  return std::to_string(value);
}

std::string at(const std::string& list, std::size_t index) {
  return list + "[" + text(index) + "]";
}

const std::optional<Traffic>& traffic_of(const Stream& stream, Kind kind) {
  return kind == Kind::kForeground ? stream.foreground : stream.background;
}

// --- durations -----------------------------------------------------------------------------------

std::uint64_t saturated(std::uint64_t ns) {
  return std::min(ns, kTooLong);
}

// Returns the time that the segment's frames take at its rate, rounded up. Exact and without
// overflow: the remainder is below 2^33, its product with 10^9 below 2^63.
std::uint64_t sending_ns(const Segment& segment) {
  const auto seconds = segment.frames / segment.rate_fps;
  if (seconds > kMaxTrialNs / kNsPerSecond) return kTooLong;
  const auto rest = segment.frames % segment.rate_fps * kNsPerSecond;
  return seconds * kNsPerSecond + (rest + segment.rate_fps - 1) / segment.rate_fps;
}

// Returns when the segment's last frame is due, rounded up. The segment must have frames.
std::uint64_t last_due_ns(const Segment& segment) {
  const auto last = segment.frames - 1;
  const auto in_burst = segment.burst_frames == 1 ? 0 : last % segment.burst_frames;
  const auto burst_ns = sending_ns({.frames = last - in_burst, .rate_fps = segment.rate_fps});
  if (in_burst == 0) return burst_ns;
  return burst_ns + sending_ns({.frames = in_burst, .rate_fps = segment.burst_rate_fps});
}

std::uint64_t stream_ns(const Stream& stream) {
  std::uint64_t total = 0;
  for (const auto& segment : stream.segments) {
    total = saturated(total + sending_ns(segment) + segment.pause_ns);
  }
  return total;
}

// --- one kind of traffic -------------------------------------------------------------------------

unsigned address_octets(IpVersion version) {
  return version == IpVersion::k4 ? 4 : 16;
}

void check_octet(const std::optional<std::uint8_t>& offset, unsigned last,
                 const std::string& member) {
  if (!offset || *offset <= last) return;
  throw SpecError(member,
                  text(*offset) + " is outside the address (expected 0 to " + text(last) + ")");
}

// Checks one part of a field. taken: the bits of the parts before it, to which its own are added.
void check_place(const FieldBits& place, unsigned octets, std::array<std::uint8_t, 16>& taken,
                 const std::string& member) {
  if (place.value_bit + place.bits > kMaxFieldBits) {
    throw SpecError(member + ".bits", text(place.bits) + " from bit " + text(place.value_bit) +
                                          " on are more than a field has (expected up to bit " +
                                          text(kMaxFieldBits) + ")");
  }
  if (place.address_bit + place.bits > 8 * octets) {
    throw SpecError(member + ".address_bit", text(place.address_bit) +
                                                 " lets the field end outside the address "
                                                 "(expected 0 to " +
                                                 text(8 * octets - place.bits) + ")");
  }
  std::array<std::uint8_t, 16> own{};
  put_field(own.data(), {place}, ~std::uint32_t{0});
  for (std::size_t i = 0; i < own.size(); ++i) {
    if ((own[i] & taken[i]) != 0) {
      throw SpecError(member + ".address_bit",
                      text(place.address_bit) + " overlaps an earlier part (expected other bits)");
    }
    taken[i] = static_cast<std::uint8_t>(taken[i] | own[i]);
  }
}

void check_pattern(const AddressPattern& pattern, IpVersion version, const std::string& member) {
  const auto octets = address_octets(version);
  check_octet(pattern.network_byte, octets - 1, member + ".network_byte");
  std::array<std::uint8_t, 16> taken{};  // a bit is 1 if a part of the field has it
  for (std::size_t i = 0; i < pattern.field.size(); ++i) {
    check_place(pattern.field[i], octets, taken, at(member + ".field", i));
  }
  if (!pattern.network_byte || taken[*pattern.network_byte] == 0) return;
  throw SpecError(member + ".network_byte",
                  text(*pattern.network_byte) + " lies within the field (expected another octet)");
}

// Octets of the smallest frame, with FCS: Ethernet, IP, UDP and the stamp.
unsigned smallest_frame(const PacketFormat& format) {
  if (format.ip_version == IpVersion::k4) return format.tunnel ? 64U + 40U : 64U;
  return 84U + 8U * static_cast<unsigned>(format.extension_headers.size());
}

void check_extension_headers(const PacketFormat& format, const std::string& member) {
  const auto& headers = format.extension_headers;
  if (format.ip_version == IpVersion::k4 && !headers.empty()) {
    throw SpecError(member, "IPv4 has no extension headers (expected [])");
  }
  for (std::size_t i = 1; i < headers.size(); ++i) {
    if (headers[i] != ExtensionHeader::kHopByHop) continue;
    throw SpecError(at(member, i), "hop-by-hop is not possible here (expected it to be the first)");
  }
}

void check_format(const PacketFormat& format, const std::string& member) {
  check_pattern(format.source, format.ip_version, member + ".source");
  check_pattern(format.destination, format.ip_version, member + ".destination");
  check_extension_headers(format, member + ".extension_headers");
  if (format.tunnel) {
    check_pattern(format.tunnel->source, IpVersion::k6, member + ".tunnel.source");
    check_pattern(format.tunnel->destination, IpVersion::k6, member + ".tunnel.destination");
    if (format.ip_version == IpVersion::k6) {
      throw SpecError(member + ".tunnel", "is given, but ip_version is 6 (expected 4, or null)");
    }
  }
  if (format.ip_version == IpVersion::k4 && format.flow_label != 0) {
    throw SpecError(member + ".flow_label",
                    text(format.flow_label) + " is given, but IPv4 has none (expected 0)");
  }
  const auto smallest = smallest_frame(format);
  if (format.frame_size_bytes >= smallest) return;
  throw SpecError(member + ".frame_size_bytes", text(format.frame_size_bytes) +
                                                    " is out of range (expected " + text(smallest) +
                                                    " to " + text(kMaxFrameSizeBytes) + ")");
}

// The data must be as long on arrival as they were on departure.
void check_sizes(const Traffic& traffic, const std::string& member) {
  const auto data = [](const PacketFormat& format) {
    return format.frame_size_bytes - smallest_frame(format);
  };
  if (data(traffic.departure) == data(traffic.arrival)) return;
  const auto expected = data(traffic.departure) + smallest_frame(traffic.arrival);
  throw SpecError(member + ".arrival.frame_size_bytes",
                  text(traffic.arrival.frame_size_bytes) +
                      " does not hold the data of the departing frame (expected " + text(expected) +
                      ")");
}

// The addresses of one end of the packets, source or destination, at one end of a stream.
struct Place {
  const AddressPattern& inner;
  const AddressPattern* outer;  // null without a tunnel

  [[nodiscard]] bool has_field() const {
    return !inner.field.empty() || (outer != nullptr && !outer->field.empty());
  }
};

Place source_of(const PacketFormat& format) {
  return {.inner = format.source, .outer = format.tunnel ? &format.tunnel->source : nullptr};
}

Place destination_of(const PacketFormat& format) {
  return {.inner = format.destination,
          .outer = format.tunnel ? &format.tunnel->destination : nullptr};
}

// One end suffices: a gateway may choose the address of the other one, and hosts that share an
// address differ in its ports alone.
void check_field(const Series& series, const Place& departure, const Place& arrival,
                 const std::string& member) {
  if (series.mode == SeriesMode::kFixed || departure.has_field() || arrival.has_field()) return;
  throw SpecError(
      member + ".mode",
      "the field varies, but no address has a place for it (expected fixed, or a field on "
      "departure or on arrival)");
}

// Returns the number of ports that each host of a port set has.
std::uint64_t size_of(const PortSet& ports) {
  const auto ranges = ports.offset_bits == 0 ? 1U : (1U << ports.offset_bits) - 1;
  return std::uint64_t{ranges} << (16U - ports.offset_bits - ports.psid_bits);
}

void check_port_set(const std::optional<PortSet>& ports, const Series& indices, bool connected,
                    const std::string& member) {
  if (!ports) return;
  if (connected) {
    throw SpecError(member, "is not possible with connections (expected null)");
  }
  if (ports->offset_bits + ports->psid_bits > 16) {
    throw SpecError(member + ".psid_bits", text(ports->psid_bits) + " is out of range (expected " +
                                               "1 to " + text(16U - ports->offset_bits) + ")");
  }
  const auto highest = indices.mode == SeriesMode::kFixed ? indices.min : indices.max;
  if (highest < size_of(*ports)) return;
  throw SpecError(member, "has " + text(size_of(*ports)) + " ports, fewer than its series needs, " +
                              text(highest + 1ULL) + " (expected a narrower series)");
}

void check_networks(const Traffic& traffic, const std::string& member) {
  if (traffic.networks == 1) return;
  if (!traffic.departure.destination.network_byte) {
    throw SpecError(member + ".networks", text(traffic.networks) +
                                              " networks need departure.destination.network_byte "
                                              "(expected 1 without it)");
  }
  if (traffic.selection != Selection::kIndependent) {
    throw SpecError(member + ".networks",
                    text(traffic.networks) + " is not possible in an enumeration (expected 1)");
  }
}

std::uint64_t range_of(const Series& series) {
  return series.mode == SeriesMode::kFixed ? 1 : series.max - series.min + 1ULL;
}

// Returns whether the frames take each combination once. Frames that use connections repeat them.
bool takes_each_once(const Traffic& traffic) {
  const auto& connections = traffic.connections;
  return !connections ||
         (connections->role == Role::kEstablish && connections->order == Order::kLinear);
}

// The engine divides by the number of each end's ports and addresses (flow::Divider).
void check_end(const Series& port, const Series& field, const std::string& member) {
  constexpr auto kMost = std::uint64_t{1} << 32U;
  const auto values = range_of(port) * range_of(field);
  if (values <= kMost) return;
  throw SpecError(member, "makes " + text(values) +
                              " combinations with the ports (expected at most " + text(kMost) +
                              " in an enumeration)");
}

void check_combinations(const Traffic& traffic, std::uint64_t frames, const std::string& member) {
  if (traffic.selection == Selection::kIndependent) {
    if (!traffic.connections) return;
    throw SpecError(member + ".selection",
                    "independent is not possible with connections (expected an enumeration, such "
                    "as enumerate-pseudorandom)");
  }
  std::uint64_t combinations = 1;
  for (const auto* series : {&traffic.source_port, &traffic.destination_port, &traffic.source_field,
                             &traffic.destination_field}) {
    const auto range = range_of(*series);
    // The engine counts combinations in 64 bits.
    if (combinations > ~std::uint64_t{0} / range) {
      throw SpecError(member + ".selection",
                      "the ranges have 2^64 combinations or more (expected narrower ranges)");
    }
    combinations *= range;
  }
  check_end(traffic.source_port, traffic.source_field, member + ".source_field");
  check_end(traffic.destination_port, traffic.destination_field, member + ".destination_field");
  if (traffic.connections && combinations > kMaxConnections) {
    throw SpecError(member + ".selection", "the ranges have " + text(combinations) +
                                               " combinations (expected at most " +
                                               text(kMaxConnections) + ")");
  }
  if (frames <= combinations || !takes_each_once(traffic)) return;
  throw SpecError(member + ".selection", "the ranges have " + text(combinations) +
                                             " combinations, too few to enumerate for " +
                                             text(frames) + " frames (expected wider ranges)");
}

// flow::Series counts exactly only so far, unless the number of values is a power of 2.
void check_counter(const Series& series, std::uint64_t frames, const std::string& member) {
  const auto values = range_of(series);
  const bool counts =
      series.mode == SeriesMode::kIncreasing || series.mode == SeriesMode::kDecreasing;
  const auto most = (std::uint64_t{1} << 63U) / values;
  if (!counts || (values & (values - 1)) == 0 || frames <= most) return;
  throw SpecError(member, text(values) + " values are counted for " + text(frames) +
                              " frames (expected at most " + text(most) + " frames)");
}

void check_traffic(const Traffic& traffic, std::uint64_t frames, const std::string& member) {
  check_format(traffic.departure, member + ".departure");
  check_format(traffic.arrival, member + ".arrival");
  check_sizes(traffic, member);
  check_networks(traffic, member);
  check_counter(traffic.source_field, frames, member + ".source_field");
  check_counter(traffic.destination_field, frames, member + ".destination_field");
  const bool connected = traffic.connections.has_value();
  check_field(traffic.source_field, source_of(traffic.departure), source_of(traffic.arrival),
              member + ".source_field");
  check_field(traffic.destination_field, destination_of(traffic.departure),
              destination_of(traffic.arrival), member + ".destination_field");
  check_port_set(traffic.source_port_set, traffic.source_port, connected,
                 member + ".source_port_set");
  check_port_set(traffic.destination_port_set, traffic.destination_port, connected,
                 member + ".destination_port_set");
  check_combinations(traffic, frames, member);
}

// --- a stream and what it asks of its side -------------------------------------------------------

void check_kind(const Stream& stream, Kind kind, const std::string& stream_path) {
  const auto member = stream_path + "." + kKindNames[static_cast<unsigned>(kind)];
  const bool wanted = kind == Kind::kForeground ? stream.mix.m > 0 : stream.mix.m < stream.mix.n;
  const auto& traffic = traffic_of(stream, kind);
  const auto mix = "the mix n " + text(stream.mix.n) + ", m " + text(stream.mix.m);
  if (wanted && !traffic) {
    throw SpecError(member, "is missing, but " + mix + ", asks for it (expected an object)");
  }
  if (!wanted && traffic) {
    throw SpecError(member, "is given, but " + mix + ", has no frame for it (expected null)");
  }
  if (!traffic) return;
  if (traffic->connections && kind == Kind::kBackground) {
    throw SpecError(member + ".connections",
                    "background traffic has no connections (expected null)");
  }
  check_traffic(*traffic, frames_of(stream, kind), member);
}

void check_next_hop(const TrialSpec& spec, Side side, IpVersion version,
                    const std::string& stream_path) {
  const auto& hop = spec.sides[static_cast<unsigned>(side)].next_hop;
  const bool known =
      hop.mac || (version == IpVersion::k4 ? hop.ipv4.has_value() : hop.ipv6.has_value());
  if (known) return;
  const std::string family = version == IpVersion::k4 ? "ipv4" : "ipv6";
  throw SpecError(std::string("sides.") + kSideNames[static_cast<unsigned>(side)] + ".next_hop",
                  "neither " + family + " nor mac is given, but frames of " + stream_path +
                      " leave there (expected one of them)");
}

// Bursts must not overlap, so the rate within a burst must be at least the mean rate.
void check_bursts(const Segment& segment, const std::string& member) {
  const auto rate_fps = segment.rate_fps;
  const auto burst_rate_fps = segment.burst_rate_fps;
  if (segment.burst_frames == 1) {
    if (burst_rate_fps == 0) return;
    throw SpecError(member + ".burst_rate_fps",
                    text(burst_rate_fps) + " is given, but burst_frames is 1 (expected 0)");
  }
  if (burst_rate_fps >= rate_fps) return;
  throw SpecError(member + ".burst_rate_fps", text(burst_rate_fps) + " is out of range (expected " +
                                                  text(rate_fps) + ", the mean rate, to " +
                                                  text(kMaxRateFps) + ")");
}

void check_stream(const TrialSpec& spec, const Stream& stream, const std::string& member) {
  const auto frames = total_frames(stream);
  if (frames == 0 || frames >= kMaxFramesPerStream) {
    throw SpecError(member + ".segments", text(frames) +
                                              " frames in all is out of range (expected 1 to " +
                                              text(kMaxFramesPerStream - 1) + ")");
  }
  for (std::size_t i = 0; i < stream.segments.size(); ++i) {
    check_bursts(stream.segments[i], at(member + ".segments", i));
  }
  for (const auto kind : {Kind::kForeground, Kind::kBackground}) {
    check_kind(stream, kind, member);
    if (const auto& traffic = traffic_of(stream, kind)) {
      check_next_hop(spec, from_side(stream.direction), traffic->departure.link_version(), member);
    }
  }
}

void check_phase(const TrialSpec& spec, const Phase& phase, const std::string& member) {
  if (phase.streams.size() == 2 && phase.streams[0].direction == phase.streams[1].direction) {
    throw SpecError(member + ".streams[1].direction",
                    "the phase has two streams in this direction (expected one per direction)");
  }
  for (std::size_t i = 0; i < phase.streams.size(); ++i) {
    check_stream(spec, phase.streams[i], at(member + ".streams", i));
  }
}

// Returns when the stream's last frame is due, rounded up.
std::uint64_t last_due_ns(const Stream& stream) {
  std::uint64_t start = 0;
  std::uint64_t last = 0;
  for (const auto& segment : stream.segments) {
    const auto whole = saturated(start + sending_ns(segment) + segment.pause_ns);
    if (segment.frames > 0) last = saturated(start + last_due_ns(segment));
    start = whole;
  }
  return last;
}

// Returns whether the stream is phase 1 or uses each connection once.
bool takes_connections_once(const Stream& stream) {
  if (!stream.foreground || !stream.foreground->connections) return false;
  const auto [role, order] = *stream.foreground->connections;
  return role == Role::kEstablish || order == Order::kLinear || order == Order::kMissing;
}

// Tags that start after the last frame would give a latency without any frame.
void check_tags(const TrialSpec& spec) {
  if (!spec.recording.tags) return;
  const auto after_ns = spec.recording.tags->after_ns;
  for (const auto& phase : spec.phases) {
    for (const auto& stream : phase.streams) {
      if (takes_connections_once(stream)) continue;  // has no tagged frames
      const auto last_ns = last_due_ns(stream);
      if (after_ns <= last_ns) continue;
      throw SpecError(
          "recording.tags.after_ns",
          text(after_ns) + " is after the last frame (expected 0 to " + text(last_ns) + ")");
    }
  }
}

}  // namespace

// Cannot overflow: there are at most 64 segments of fewer than 2^40 frames each.
std::uint64_t total_frames(const Stream& stream) {
  std::uint64_t total = 0;
  for (const auto& segment : stream.segments) total += segment.frames;
  return total;
}

std::uint64_t frames_of(const Stream& stream, Kind kind) {
  const auto total = total_frames(stream);
  const auto [n, m] = stream.mix;
  const auto foreground = total / n * m + std::min<std::uint64_t>(total % n, m);
  return kind == Kind::kForeground ? foreground : total - foreground;
}

std::uint64_t duration_ns(const TrialSpec& spec) {
  std::uint64_t total = 0;
  for (const auto& phase : spec.phases) {
    std::uint64_t longest = 0;
    for (const auto& stream : phase.streams) longest = std::max(longest, stream_ns(stream));
    total = saturated(total + longest + spec.drain_ns + phase.gap_ns);
  }
  return total;
}

void validate(const TrialSpec& spec) {
  for (std::size_t i = 0; i < spec.phases.size(); ++i) {
    check_phase(spec, spec.phases[i], at("phases", i));
  }
  check_tags(spec);
  check_connections(spec);
  if (duration_ns(spec) <= kMaxTrialNs) return;
  throw SpecError("phases", "the trial with its drains and gaps is too long (expected at most " +
                                text(kMaxTrialNs) + " ns)");
}

}  // namespace natxy::spec
