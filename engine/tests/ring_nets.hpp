// The networks of whole trials: two hosts, and their addresses on both sides of a gateway, as
// traffic for the engine and as configuration for the gateway.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/trial_spec.hpp"
#include "traffic_cases.hpp"

namespace natxy::tests {

// A host's address on one side of the gateway.
struct HostAddress {
  const char* text;
  std::uint8_t network_byte;  // offset of the destination network's number
  std::uint8_t field_byte;    // offset of a varying field of 16 bits
};

struct Net {
  std::string name;
  spec::IpVersion left;
  spec::IpVersion right;
  HostAddress left_host_on_left;
  HostAddress right_host_on_left;
  HostAddress left_host_on_right;
  HostAddress right_host_on_right;
  std::string routes;       // the gateway's, JSON, without the brackets
  std::string translation;  // the gateway's, JSON
};

inline std::string route(const char* prefix, const char* side, const char* via) {
  return std::string(R"({"prefix": ")") + prefix + R"(", "side": ")" + side + R"(", "via": ")" +
         via + R"("})";
}

inline Net route44() {
  const HostAddress a{"198.18.0.2", 2, 2};
  const HostAddress b{"198.19.0.2", 2, 2};
  return {.name = "44",
          .left = spec::IpVersion::k4,
          .right = spec::IpVersion::k4,
          .left_host_on_left = a,
          .right_host_on_left = b,
          .left_host_on_right = a,
          .right_host_on_right = b,
          .routes = route("198.18.0.0/16", "left", "198.18.0.2") + ", " +
                    route("198.19.0.0/16", "right", "198.19.0.2"),
          .translation = "null"};
}

inline Net route66() {
  const HostAddress a{"2001:2:0:4000::2", 7, 14};
  const HostAddress b{"2001:2:0:8000::2", 7, 14};
  return {.name = "66",
          .left = spec::IpVersion::k6,
          .right = spec::IpVersion::k6,
          .left_host_on_left = a,
          .right_host_on_left = b,
          .left_host_on_right = a,
          .right_host_on_right = b,
          .routes = route("2001:2:0:4000::/52", "left", "2001:2:0:4000::2") + ", " +
                    route("2001:2:0:8000::/52", "right", "2001:2:0:8000::2"),
          .translation = "null"};
}

inline constexpr const char* kExplicit =
    R"({"explicit": [{"ipv4": "198.18.0.0/16", "ipv6": "2001:2::/112"},
                     {"ipv4": "198.19.0.0/16", "ipv6": "2001:2:0:1000::/112"}]})";

// RFC 7757: an explicit address mapping for each host's network.
inline Net translate64() {
  return {.name = "64",
          .left = spec::IpVersion::k6,
          .right = spec::IpVersion::k4,
          .left_host_on_left = {"2001:2::2", 14, 14},
          .right_host_on_left = {"2001:2:0:1000::2", 14, 14},
          .left_host_on_right = {"198.18.0.2", 2, 2},
          .right_host_on_right = {"198.19.0.2", 2, 2},
          .routes = route("2001:2::/112", "left", "2001:2::2") + ", " +
                    route("198.19.0.0/16", "right", "198.19.0.2"),
          .translation = kExplicit};
}

inline Net translate46() {
  return {.name = "46",
          .left = spec::IpVersion::k4,
          .right = spec::IpVersion::k6,
          .left_host_on_left = {"198.18.0.2", 2, 2},
          .right_host_on_left = {"198.19.0.2", 2, 2},
          .left_host_on_right = {"2001:2::2", 14, 14},
          .right_host_on_right = {"2001:2:0:1000::2", 14, 14},
          .routes = route("198.18.0.0/16", "left", "198.18.0.2") + ", " +
                    route("2001:2:0:1000::/112", "right", "2001:2:0:1000::2"),
          .translation = kExplicit};
}

// RFC 6052: both hosts are known on the left by the well-known prefix.
inline Net well_known_prefix() {
  return {.name = "rfc6052",
          .left = spec::IpVersion::k6,
          .right = spec::IpVersion::k4,
          .left_host_on_left = {"64:ff9b::198.18.0.2", 14, 14},
          .right_host_on_left = {"64:ff9b::198.19.0.2", 14, 14},
          .left_host_on_right = {"198.18.0.2", 2, 2},
          .right_host_on_right = {"198.19.0.2", 2, 2},
          .routes = route("64:ff9b::198.18.0.0/112", "left", "64:ff9b::198.18.0.2") + ", " +
                    route("198.19.0.0/16", "right", "198.19.0.2"),
          .translation = R"({"prefix": "64:ff9b::/96"})"};
}

inline std::vector<Net> all_nets() {
  return {route44(), route66(), translate64(), translate46(), well_known_prefix()};
}

// The VLAN tags of the two sides, in JSON.
struct Tags {
  std::string left = "[]";
  std::string right = "[]";
};

inline std::string gateway_config(const Net& net, const std::string& faults = "",
                                  const Tags& tags = {}) {
  return R"({"left": {"addresses": [], "vlans": )" + tags.left +
         R"(}, "right": {"addresses": [], "vlans": )" + tags.right + R"(}, "routes": [)" +
         net.routes + R"(], "translation": )" + net.translation + R"(, "faults": [)" + faults +
         "]}";
}

// The parts of the addresses that vary between frames.
enum class Varying : std::uint8_t { kNothing, kNetworks, kFields };

inline spec::PacketFormat pair_between(const HostAddress& from, const HostAddress& to,
                                       spec::IpVersion version, Varying varying) {
  spec::PacketFormat pair{
      .ip_version = version,
      .source = address(from.text),
      .destination = address(to.text),
      .frame_size_bytes = static_cast<std::uint16_t>(version == spec::IpVersion::k4 ? 64 : 84)};
  if (varying == Varying::kNetworks) pair.destination.network_byte = to.network_byte;
  if (varying == Varying::kFields) {
    pair.source.field = spec::field_at(from.field_byte);
    pair.destination.field = spec::field_at(to.field_byte);
  }
  return pair;
}

inline spec::Traffic traffic_in(const Net& net, spec::Direction direction,
                                Varying varying = Varying::kNothing) {
  auto on_left = pair_between(net.left_host_on_left, net.right_host_on_left, net.left, varying);
  auto on_right = pair_between(net.left_host_on_right, net.right_host_on_right, net.right, varying);
  if (direction == spec::Direction::kReverse) {
    on_left = pair_between(net.right_host_on_left, net.left_host_on_left, net.left, varying);
    on_right = pair_between(net.right_host_on_right, net.left_host_on_right, net.right, varying);
  }
  const bool forward = direction == spec::Direction::kForward;
  spec::Traffic traffic{.departure = forward ? on_left : on_right,
                        .arrival = forward ? on_right : on_left};
  traffic.source_port = {spec::SeriesMode::kPseudorandom, 1024, 65535};
  traffic.destination_port = {spec::SeriesMode::kPseudorandom, 1, 49151};
  if (varying == Varying::kNetworks) traffic.networks = 256;
  if (varying == Varying::kFields) {
    traffic.source_field = {spec::SeriesMode::kPseudorandom, 2, 65535};
    traffic.destination_field = {spec::SeriesMode::kIncreasing, 2, 5000};
  }
  return traffic;
}

}  // namespace natxy::tests
