#include "spec/spec_json.hpp"

#include <arpa/inet.h>

#include <limits>
#include <utility>

#include "plumbing/json_value.hpp"
#include "spec/json.hpp"
#include "spec/json_readers.hpp"
#include "spec/names.hpp"
#include "spec/traffic_json.hpp"
#include "spec/validate.hpp"

namespace natxy::spec {
namespace {

using plumbing::Json;
using plumbing::Object;
using plumbing::parse_json;
using plumbing::shown;
using plumbing::Value;

// --- addresses --------------------------------------------------------------------------

std::array<std::uint8_t, 6> mac_address(const Value& value) {
  static const std::string kRefusal =
      "is not a MAC address (expected an address such as 02:00:00:00:00:01)";
  static const std::string kDigits = "0123456789abcdef";
  const auto& text = value.text();
  if (text.size() != 17) value.refuse(kRefusal);
  std::array<std::uint8_t, 6> octets{};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto lower = text[i] >= 'A' && text[i] <= 'F' ? text[i] - 'A' + 'a' : text[i];
    const auto digit = kDigits.find(static_cast<char>(lower));
    const bool separator = i % 3 == 2;
    if (separator ? text[i] != ':' : digit == std::string::npos) value.refuse(kRefusal);
    if (!separator) octets[i / 3] = static_cast<std::uint8_t>(octets[i / 3] * 16U + digit);
  }
  return octets;
}

std::string own_address(const Value& value) {
  std::array<std::uint8_t, 16> octets{};
  const auto& text = value.text();
  const bool whole = text.find('\0') == std::string::npos;
  if (whole && (inet_pton(AF_INET, text.c_str(), octets.data()) == 1 ||
                inet_pton(AF_INET6, text.c_str(), octets.data()) == 1)) {
    return text;
  }
  value.refuse("is not an IP address (expected an address such as 198.18.0.2 or 2001:2::2)");
}

// --- the spec, from the inside out ------------------------------------------------------

constexpr std::size_t kMaxOwnAddresses = 4096;

std::uint64_t nanoseconds(const Value& value) {
  return value.integer<std::uint64_t>(0, kMaxTrialNs);
}

std::uint32_t burst_limit(const Value& value) {
  return value.integer<std::uint32_t>(0, kMaxBurstLimit);
}

Segment segment(const Value& value) {
  const auto burst_frames = [](const Value& of) {
    return of.integer<std::uint32_t>(1, kMaxBurstFrames);
  };
  const auto rate_or_none = [](const Value& of) {
    return of.integer<std::uint64_t>(0, kMaxRateFps);
  };
  Object object(value);
  const Segment segment{
      .frames = object["frames"].integer<std::uint64_t>(0, kMaxFramesPerStream - 1),
      .rate_fps = object["rate_fps"].integer<std::uint64_t>(1, kMaxRateFps),
      .pause_ns = nanoseconds(object["pause_ns"]),
      .burst_frames = object.optional("burst_frames", burst_frames).value_or(1U),
      .burst_rate_fps = object.optional("burst_rate_fps", rate_or_none).value_or(0U)};
  object.close();
  return segment;
}

Mix mix(const Value& value) {
  Object object(value);
  Mix mix;
  mix.n = object["n"].integer<std::uint32_t>(1, kMaxMixN);
  mix.m = object["m"].integer<std::uint32_t>(0, mix.n);
  mix.even = flag(object, "even");
  object.close();
  return mix;
}

Stream stream(const Value& value) {
  Object object(value);
  Stream stream;
  stream.direction = object["direction"].one_of(kDirections);
  stream.mix = mix(object["mix"]);
  stream.segments = object["segments"].list<Segment>(1, kMaxSegments, segment);
  stream.foreground = object.optional("foreground", read_traffic);
  stream.background = object.optional("background", read_traffic);
  object.close();
  return stream;
}

Phase phase(const Value& value) {
  Object object(value);
  const auto count = [](const Value& of) { return of.integer<std::uint64_t>(0, kMaxConnections); };
  const Phase phase{
      .name = object["name"].text(),
      .gap_ns = nanoseconds(object["gap_ns"]),
      .streams = object["streams"].list<Stream>(1, 2, stream),
      .minimum_connections = object.optional("minimum_connections", count).value_or(0)};
  object.close();
  return phase;
}

NextHop next_hop(const Value& value) {
  Object object(value);
  const NextHop hop{.ipv4 = object.optional("ipv4", address<4>),
                    .ipv6 = object.optional("ipv6", address<16>),
                    .mac = object.optional("mac", mac_address)};
  object.close();
  return hop;
}

VlanTag vlan_tag(const Value& value) {
  const auto priority = [](const Value& of) { return of.integer<std::uint8_t>(0, 7); };
  const auto tpid = [](const Value& of) { return of.one_of(kTagTypes); };
  Object object(value);
  const VlanTag tag{.tpid = object.optional("tpid", tpid).value_or(VlanTag{}.tpid),
                    .id = object["id"].integer<std::uint16_t>(1, kMaxVlanId),
                    .priority = object.optional("priority", priority).value_or(0)};
  object.close();
  return tag;
}

SideSpec side(const Value& value) {
  Object object(value);
  SideSpec side{.next_hop = next_hop(object["next_hop"]), .own_addresses = {}};
  if (const auto vlans = object.find("vlans")) {
    side.vlans = vlans->list<VlanTag>(0, kMaxVlanTags, vlan_tag);
  }
  side.own_addresses = object["own_addresses"].list<std::string>(0, kMaxOwnAddresses, own_address);
  object.close();
  return side;
}

std::array<SideSpec, 2> sides(const Value& value) {
  Object object(value);
  std::array<SideSpec, 2> sides{side(object["left"]), side(object["right"])};
  object.close();
  return sides;
}

WarmUp warm_up(const Value& value) {
  Object object(value);
  const WarmUp warm_up{.mode = object["mode"].one_of(kWarmUpModes),
                       .timeout_ns = nanoseconds(object["timeout_ns"])};
  object.close();
  return warm_up;
}

Tags tags(const Value& value) {
  Object object(value);
  const Tags tags{.after_ns = nanoseconds(object["after_ns"]),
                  .count = object["count"].integer<std::uint64_t>(1, kMaxFramesPerStream - 1)};
  object.close();
  return tags;
}

Recording recording(const Value& value) {
  Object object(value);
  const Recording recording{.tags = object.optional("tags", tags),
                            .ipdv = flag(object, "ipdv"),
                            .frames = flag(object, "frames"),
                            .mappings = flag(object, "mappings")};
  object.close();
  return recording;
}

WatchedCpu watched_cpu(const Value& value) {
  constexpr auto kMax = std::numeric_limits<std::int32_t>::max();
  const auto thread = [](const Value& of) { return of.integer<std::int32_t>(0, kMax); };
  Object object(value);
  WatchedCpu watched{.cpu = object["cpu"].integer<int>(0, kMaxWatched - 1), .threads = {}};
  watched.threads = object["threads"].list<std::int32_t>(0, kMaxWatched, thread);
  object.close();
  return watched;
}

std::vector<WatchedCpu> watched_cpus(const Value& value) {
  return value.list<WatchedCpu>(0, kMaxWatched, watched_cpu);
}

TrialSpec trial_spec(const Value& value) {
  Object object(value);
  TrialSpec spec;
  spec.version = object["version"].integer<int>(kVersion, kVersion);
  spec.seed = object["seed"].integer<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max());
  spec.nonce = object["nonce"].integer<std::uint32_t>(0, std::numeric_limits<std::uint32_t>::max());
  spec.drain_ns = nanoseconds(object["drain_ns"]);
  spec.frame_timeout_ns = nanoseconds(object["frame_timeout_ns"]);
  spec.lateness_tolerance_ns = nanoseconds(object["lateness_tolerance_ns"]);
  spec.early_end_ns = object.optional("early_end_ns", nanoseconds).value_or(0);
  spec.link_may_fall = flag(object, "link_may_fall");
  spec.realtime = object["realtime"].boolean();
  spec.burst_limit_frames = object.optional("burst_limit_frames", burst_limit).value_or(0);
  spec.watched = object.optional("watched", watched_cpus).value_or(std::vector<WatchedCpu>{});
  spec.recording = object.optional("recording", recording).value_or(Recording{});
  spec.warm_up = warm_up(object["warm_up"]);
  spec.sides = sides(object["sides"]);
  spec.phases = object["phases"].list<Phase>(1, kMaxPhases, phase);
  object.close();
  validate(spec);
  return spec;
}

}  // namespace

TrialSpec read_spec(const Json& json) {
  if (!json.is_object())
    throw SpecError("spec", shown(json) + " is not an object (expected {...})");
  return trial_spec(Value(json, ""));
}

TrialSpec parse_spec(std::string_view text) {
  const auto json = parse_json(text);
  if (json.is_discarded()) throw SpecError("spec", "is not JSON (expected an object)");
  return read_spec(json);
}

}  // namespace natxy::spec
