#include <array>
#include <optional>

#include "spec/names.hpp"
#include "spec/rules.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::spec {
namespace {

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
  const unsigned octets = address_octets(version);
  check_octet(pattern.network_byte, octets - 1, member + ".network_byte");
  std::array<std::uint8_t, 16> taken{};  // a bit is 1 if a part of the field has it
  for (std::size_t i = 0; i < pattern.field.size(); ++i) {
    check_place(pattern.field[i], octets, taken, at(member + ".field", i));
  }
  if (!pattern.network_byte || taken[*pattern.network_byte] == 0) return;
  throw SpecError(member + ".network_byte",
                  text(*pattern.network_byte) + " lies within the field (expected another octet)");
}

// Octets of the smallest frame, with FCS: Ethernet, IP, UDP and the stamp. A TCP header has 20
// octets without the option that holds the stamp, which has a header of 2.
unsigned smallest_frame(const PacketFormat& format) {
  constexpr unsigned kWithoutIp = 44;
  const auto outer = format.tunnel ? format.tunnel->octets_before(format.ip_version) : 0;
  const auto tcp = format.transport == Transport::kTcp ? 20 + 2 - 8 : 0;
  const auto octets = kWithoutIp + ip_octets(format.ip_version) + outer + tcp;
  return static_cast<unsigned>(octets + 8 * format.extension_headers.size());
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
  if (const auto& tunnel = format.tunnel) {
    check_pattern(tunnel->source, tunnel->ip_version, member + ".tunnel.source");
    check_pattern(tunnel->destination, tunnel->ip_version, member + ".tunnel.destination");
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

// TCP needs connections, because its numbers follow from them.
void check_transport(const Traffic& traffic, const std::string& member) {
  const auto transport = traffic.departure.transport;
  if (traffic.arrival.transport != transport) {
    throw SpecError(member + ".arrival.transport",
                    name_of(kTransports, traffic.arrival.transport) +
                        " differs from that of the departing frames (expected " +
                        name_of(kTransports, transport) + ")");
  }
  if (transport == Transport::kUdp) return;
  if (!traffic.connections) {
    throw SpecError(member + ".departure.transport",
                    "tcp is not possible without connections (expected udp)");
  }
  if (traffic.avoid_zero_checksum) {
    throw SpecError(member + ".avoid_zero_checksum",
                    "is true, but a checksum of 0 has no meaning in TCP (expected false)");
  }
}

// Only a segment that acknowledges may have data.
void check_segment_size(const Traffic& traffic, const std::string& member) {
  if (!traffic.connections || !traffic.connections->segment) return;
  const auto segment = *traffic.connections->segment;
  const auto smallest = smallest_frame(traffic.departure);
  if (segment == TcpSegment::kAck || traffic.departure.frame_size_bytes == smallest) return;
  throw SpecError(member + ".departure.frame_size_bytes",
                  text(traffic.departure.frame_size_bytes) + " is out of range (expected " +
                      text(smallest) + ", because the segment " + name_of(kTcpSegments, segment) +
                      " has no data)");
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

// Returns whether the frames take each combination once. Frames that use connections repeat them.
bool takes_each_once(const Traffic& traffic) {
  const auto& connections = traffic.connections;
  return !connections ||
         (connections->role == Role::kEstablish && connections->order == Order::kLinear);
}

// The engine divides by the number of each end's ports and addresses (flow::Divider).
void check_end(const Series& port, const Series& field, const std::string& member) {
  constexpr auto kMost = std::uint64_t{1} << 32U;
  const auto values = values_of(port) * values_of(field);
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
    const auto range = values_of(*series);
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
  const auto taken = frames + (traffic.connections ? traffic.connections->first : 0);
  if (taken <= combinations || !takes_each_once(traffic)) return;
  throw SpecError(member + ".selection", "the ranges have " + text(combinations) +
                                             " combinations, too few to enumerate for " +
                                             text(taken) + " frames (expected wider ranges)");
}

// flow::Series counts exactly only so far, unless the number of values is a power of 2.
void check_counter(const Series& series, std::uint64_t frames, const std::string& member) {
  const auto values = values_of(series);
  const bool counts =
      series.mode == SeriesMode::kIncreasing || series.mode == SeriesMode::kDecreasing;
  const auto most = (std::uint64_t{1} << 63U) / values;
  if (!counts || (values & (values - 1)) == 0 || frames <= most) return;
  throw SpecError(member, text(values) + " values are counted for " + text(frames) +
                              " frames (expected at most " + text(most) + " frames)");
}

}  // namespace

void check_traffic(const Traffic& traffic, std::uint64_t frames, const std::string& member) {
  check_format(traffic.departure, member + ".departure");
  check_format(traffic.arrival, member + ".arrival");
  check_transport(traffic, member);
  check_sizes(traffic, member);
  check_segment_size(traffic, member);
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

}  // namespace natxy::spec
