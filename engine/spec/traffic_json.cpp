#include "spec/traffic_json.hpp"

#include <algorithm>

#include "spec/json_readers.hpp"
#include "spec/names.hpp"

namespace natxy::spec {

using plumbing::Object;
using plumbing::Value;

namespace {

std::uint8_t hop_limit(const Value& value) {
  return value.integer<std::uint8_t>(1, 255);
}

std::uint8_t traffic_class(const Value& value) {
  return value.integer<std::uint8_t>(0, 255);
}

std::uint32_t flow_label(const Value& value) {
  return value.integer<std::uint32_t>(0, kMaxFlowLabel);
}

Transport transport(const Value& value) {
  return value.one_of(kTransports);
}

ExtensionHeader extension_header(const Value& value) {
  return value.one_of(kExtensionHeaders);
}

FieldBits field_bits(const Value& value) {
  const auto value_bit = [](const Value& of) {
    return of.integer<std::uint8_t>(0, kMaxFieldBits - 1);
  };
  Object object(value);
  const FieldBits place{.value_bit = object.optional("value_bit", value_bit).value_or(0),
                        .bits = object["bits"].integer<std::uint8_t>(1, kMaxFieldBits),
                        .address_bit = object["address_bit"].integer<std::uint8_t>(0, 127)};
  object.close();
  return place;
}

PortSet port_set(const Value& value) {
  Object object(value);
  const PortSet ports{.offset_bits = object["offset_bits"].integer<std::uint8_t>(0, 15),
                      .psid_bits = object["psid_bits"].integer<std::uint8_t>(1, 15)};
  object.close();
  return ports;
}

AddressPattern pattern(const Value& value, IpVersion version) {
  const auto offset = [](const Value& of) { return of.integer<std::uint8_t>(0, 15); };
  Object object(value);
  AddressPattern pattern;
  if (version == IpVersion::k6) {
    pattern.octets = address<16>(object["address"]);
  } else {
    std::ranges::copy(address<4>(object["address"]), pattern.octets.begin());
  }
  pattern.network_byte = object.optional("network_byte", offset);
  if (const auto field = object.find("field")) {
    pattern.field = field->list<FieldBits>(0, kMaxFieldPlaces, field_bits);
  }
  object.close();
  return pattern;
}

IpVersion ip_version(const Value& value) {
  const auto number = value.integer<std::uint8_t>(4, 6);
  if (number == 5) value.refuse("is not an IP version (expected 4 or 6)");
  return IpVersion{number};
}

const Encapsulation* encapsulation(const Value& value) {
  return value.one_of(kEncapsulationNames);
}

Tunnel tunnel(const Value& value) {
  Object object(value);
  Tunnel tunnel;
  tunnel.encapsulation =
      object.optional("encapsulation", encapsulation).value_or(tunnel.encapsulation);
  tunnel.ip_version = object.optional("ip_version", ip_version).value_or(tunnel.ip_version);
  tunnel.source = pattern(object["source"], tunnel.ip_version);
  tunnel.destination = pattern(object["destination"], tunnel.ip_version);
  tunnel.hop_limit = object.optional("hop_limit", hop_limit).value_or(kUsualHopLimit);
  object.close();
  return tunnel;
}

PacketFormat packet_format(const Value& value) {
  Object object(value);
  PacketFormat format{.ip_version = ip_version(object["ip_version"])};
  format.source = pattern(object["source"], format.ip_version);
  format.destination = pattern(object["destination"], format.ip_version);
  format.frame_size_bytes =
      object["frame_size_bytes"].integer<std::uint16_t>(kMinFrameSizeBytes, kMaxFrameSizeBytes);
  format.traffic_class = object.optional("traffic_class", traffic_class).value_or(0);
  format.flow_label = object.optional("flow_label", flow_label).value_or(0U);
  if (const auto headers = object.find("extension_headers")) {
    format.extension_headers =
        headers->list<ExtensionHeader>(0, kMaxExtensionHeaders, extension_header);
  }
  format.tunnel = object.optional("tunnel", tunnel);
  format.transport = object.optional("transport", transport).value_or(Transport::kUdp);
  object.close();
  return format;
}

Series series(const Value& value, unsigned bits = 16) {
  const auto highest = (std::uint32_t{1} << bits) - 1;
  Object object(value);
  Series series;
  series.mode = object["mode"].one_of(kModes);
  series.min = object["min"].integer<std::uint32_t>(0, highest);
  series.max = object["max"].integer<std::uint32_t>(series.min, highest);
  object.close();
  return series;
}

Connections connections(const Value& value) {
  Object object(value);
  const auto order = [](const Value& of) { return of.one_of(kOrders); };
  const auto segment = [](const Value& of) { return of.one_of(kTcpSegments); };
  const auto first = [](const Value& of) {
    return of.integer<std::uint64_t>(0, kMaxConnections - 1);
  };
  const Connections connections{.role = object["role"].one_of(kRoles),
                                .order = object.optional("order", order).value_or(Order::kLinear),
                                .segment = object.optional("segment", segment),
                                .first = object.optional("first", first).value_or(0)};
  object.close();
  return connections;
}

}  // namespace

Traffic read_traffic(const Value& value) {
  Object object(value);
  Traffic traffic;
  traffic.departure = packet_format(object["departure"]);
  traffic.arrival = packet_format(object["arrival"]);
  traffic.selection = object["selection"].one_of(kSelections);
  traffic.source_port = series(object["source_port"]);
  traffic.destination_port = series(object["destination_port"]);
  traffic.source_field = series(object["source_field"], kMaxFieldBits);
  traffic.destination_field = series(object["destination_field"], kMaxFieldBits);
  traffic.source_port_set = object.optional("source_port_set", port_set);
  traffic.destination_port_set = object.optional("destination_port_set", port_set);
  traffic.networks = object["networks"].integer<std::uint16_t>(1, 256);
  traffic.hop_limit = object.optional("hop_limit", hop_limit).value_or(kUsualHopLimit);
  traffic.dont_fragment = flag(object, "dont_fragment", true);
  traffic.hop_limit_drop = object.optional("hop_limit_drop", [&](const Value& drop) {
    return drop.integer<std::uint8_t>(0, static_cast<std::uint8_t>(traffic.hop_limit - 1));
  });
  traffic.avoid_zero_checksum = flag(object, "avoid_zero_checksum");
  traffic.dscp_kept = flag(object, "dscp_kept");
  traffic.udp_checksum_required = flag(object, "udp_checksum_required");
  traffic.connections = object.optional("connections", connections);
  object.close();
  return traffic;
}

}  // namespace natxy::spec
