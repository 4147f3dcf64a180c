#include <algorithm>

#include "spec/json_readers.hpp"
#include "spec/names.hpp"

namespace natxy::spec {

using namespace plumbing;

namespace {

constexpr auto kHopLimit = integer<std::uint8_t>(1, 255);

FieldBits field_bits(Object& object) {
  return {.value_bit = object.read_or("value_bit", std::uint8_t{0},
                                      integer<std::uint8_t>(0, kMaxFieldBits - 1)),
          .bits = object.read("bits", integer<std::uint8_t>(1, kMaxFieldBits)),
          .address_bit = object.read("address_bit", integer<std::uint8_t>(0, 127))};
}

PortSet port_set(Object& object) {
  return {.offset_bits = object.read("offset_bits", integer<std::uint8_t>(0, 15)),
          .psid_bits = object.read("psid_bits", integer<std::uint8_t>(1, 15))};
}

// Returns a reader of the addresses of one IP version.
auto pattern(IpVersion version) {
  return [version](Object& object) {
    AddressPattern pattern;
    if (version == IpVersion::k6) {
      pattern.octets = object.read("address", address<16>);
    } else {
      std::ranges::copy(object.read("address", address<4>), pattern.octets.begin());
    }
    pattern.network_byte = object.optional("network_byte", integer<std::uint8_t>(0, 15));
    pattern.field = object.read_or("field", pattern.field, list_of(0, kMaxFieldPlaces, field_bits));
    return pattern;
  };
}

IpVersion ip_version(const Value& value) {
  const auto number = value.number(4, 6);
  if (number == 5) value.refuse("is not an IP version (expected 4 or 6)");
  return static_cast<IpVersion>(number);
}

Tunnel tunnel(Object& object) {
  Tunnel tunnel;
  tunnel.encapsulation =
      object.read_or("encapsulation", tunnel.encapsulation, one_of(kEncapsulationNames));
  tunnel.ip_version = object.read_or("ip_version", tunnel.ip_version, ip_version);
  tunnel.source = object.read("source", pattern(tunnel.ip_version));
  tunnel.destination = object.read("destination", pattern(tunnel.ip_version));
  tunnel.hop_limit = object.read_or("hop_limit", kUsualHopLimit, kHopLimit);
  return tunnel;
}

PacketFormat packet_format(Object& object) {
  PacketFormat format{.ip_version = object.read("ip_version", ip_version)};
  format.source = object.read("source", pattern(format.ip_version));
  format.destination = object.read("destination", pattern(format.ip_version));
  format.frame_size_bytes = object.read(
      "frame_size_bytes", integer<std::uint16_t>(kMinFrameSizeBytes, kMaxFrameSizeBytes));
  format.traffic_class =
      object.read_or("traffic_class", format.traffic_class, integer<std::uint8_t>(0, 255));
  format.flow_label = object.read_or("flow_label", 0U, integer<std::uint32_t>(0, kMaxFlowLabel));
  format.extension_headers =
      object.read_or("extension_headers", format.extension_headers,
                     list_of(0, kMaxExtensionHeaders, one_of(kExtensionHeaders)));
  format.tunnel = object.optional("tunnel", tunnel);
  format.transport = object.read_or("transport", Transport::kUdp, one_of(kTransports));
  return format;
}

// Returns a reader of series whose values have this many bits.
auto series(unsigned bits) {
  return [highest = (1U << bits) - 1](Object& object) {
    Series series;
    series.mode = object.read("mode", one_of(kModes));
    series.min = object.read("min", integer<std::uint32_t>(0, highest));
    series.max = object.read("max", integer<std::uint32_t>(series.min, highest));
    return series;
  };
}

Connections connections(Object& object) {
  return {.role = object.read("role", one_of(kRoles)),
          .order = object.read_or("order", Order::kLinear, one_of(kOrders)),
          .segment = object.optional("segment", one_of(kTcpSegments)),
          .first = object.read_or("first", std::uint64_t{0},
                                  integer<std::uint64_t>(0, kMaxConnections - 1))};
}

}  // namespace

Traffic read_traffic(Object& object) {
  constexpr unsigned kPortBits = 16;
  Traffic traffic;
  traffic.departure = object.read("departure", packet_format);
  traffic.arrival = object.read("arrival", packet_format);
  traffic.selection = object.read("selection", one_of(kSelections));
  traffic.source_port = object.read("source_port", series(kPortBits));
  traffic.destination_port = object.read("destination_port", series(kPortBits));
  traffic.source_field = object.read("source_field", series(kMaxFieldBits));
  traffic.destination_field = object.read("destination_field", series(kMaxFieldBits));
  traffic.source_port_set = object.optional("source_port_set", port_set);
  traffic.destination_port_set = object.optional("destination_port_set", port_set);
  traffic.networks = object.read("networks", integer<std::uint16_t>(1, 256));
  traffic.hop_limit = object.read_or("hop_limit", kUsualHopLimit, kHopLimit);
  traffic.dont_fragment = object.read_or("dont_fragment", true, boolean);
  traffic.hop_limit_drop =
      object.optional("hop_limit_drop", integer<std::uint8_t>(0, traffic.hop_limit - 1U));
  traffic.avoid_zero_checksum = object.read_or("avoid_zero_checksum", false, boolean);
  traffic.dscp_kept = object.read_or("dscp_kept", false, boolean);
  traffic.udp_checksum_required = object.read_or("udp_checksum_required", false, boolean);
  traffic.connections = object.optional("connections", connections);
  return traffic;
}

}  // namespace natxy::spec
