// Traffic with each combination of IP versions, as in the testbeds of SP 3.5.3.
#pragma once

#include <arpa/inet.h>

#include "run/stream_plan.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::tests {

inline spec::AddressPattern address(const char* text) {
  spec::AddressPattern pattern;
  inet_pton(std::string_view(text).find(':') == std::string_view::npos ? AF_INET : AF_INET6, text,
            pattern.octets.data());
  return pattern;
}

// On arrival without a gateway.
inline constexpr frame::HopLimits kUsualHopLimits{.inner = spec::kUsualHopLimit,
                                                  .outer = spec::kUsualHopLimit};

inline std::uint16_t smallest_frame(spec::IpVersion version) {
  return version == spec::IpVersion::k4 ? 64 : 84;
}

inline spec::PacketFormat pair_of(spec::IpVersion version, bool network_varies = false) {
  const auto four = version == spec::IpVersion::k4;
  spec::PacketFormat pair{.ip_version = version,
                          .source = address(four ? "198.18.0.2" : "2001:2::2"),
                          .destination = address(four ? "198.19.0.2" : "2001:2:0:1000::2"),
                          .frame_size_bytes = smallest_frame(version)};
  if (network_varies) pair.destination.network_byte = four ? 2 : 7;
  return pair;
}

inline spec::Traffic traffic(spec::IpVersion from, spec::IpVersion to) {
  spec::Traffic traffic;
  traffic.departure = pair_of(from);
  traffic.arrival = pair_of(to);
  traffic.source_port = {spec::SeriesMode::kPseudorandom, 1024, 65535};
  traffic.destination_port = {spec::SeriesMode::kPseudorandom, 1, 49151};
  return traffic;
}

// The same with 256 networks and a varying field in each address, at an odd offset in IPv4.
inline spec::Traffic varied_traffic(spec::IpVersion from, spec::IpVersion to) {
  auto all = traffic(from, to);
  all.networks = 256;
  for (auto* pair : {&all.departure, &all.arrival}) {
    *pair = pair_of(pair->ip_version, true);
    const auto four = pair->ip_version == spec::IpVersion::k4;
    pair->source.field = spec::field_at(four ? 1 : 9);
    if (!four) pair->destination.field = spec::field_at(12);
  }
  all.source_field = {spec::SeriesMode::kPseudorandom, 0, 65535};
  if (!all.departure.destination.field.empty() && !all.arrival.destination.field.empty()) {
    all.destination_field = {spec::SeriesMode::kIncreasing, 10, 5000};
  }
  return all;
}

// The same with frames of this size as IPv6, with FCS; an IPv4 frame is 20 octets smaller.
inline spec::Traffic sized(spec::Traffic traffic, int frame_size_bytes) {
  for (auto* format : {&traffic.departure, &traffic.arrival}) {
    const int smaller = format->ip_version == spec::IpVersion::k4 ? 20 : 0;
    format->frame_size_bytes = static_cast<std::uint16_t>(frame_size_bytes - smaller);
  }
  return traffic;
}

inline constexpr run::TickRate kTicks{1'000'000'000};

inline run::StreamPlan plan_of(const spec::Stream& stream, std::uint32_t nonce = 77) {
  const frame::Link link{.source = {2, 0, 0, 0, 0, 1}, .destination = {2, 0, 0, 0, 0, 2}};
  return run::compile(
      stream, {.seed = 42, .nonce = nonce, .phase = 0, .ticks = kTicks, .links = {link, link}});
}

}  // namespace natxy::tests
