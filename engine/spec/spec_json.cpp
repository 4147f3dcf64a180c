#include <arpa/inet.h>

#include <limits>
#include <utility>

#include "plumbing/json_value.hpp"
#include "spec/json.hpp"
#include "spec/json_readers.hpp"
#include "spec/names.hpp"
#include "spec/rules.hpp"

namespace natxy::spec {
namespace {

using namespace plumbing;

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
constexpr auto kNanoseconds = integer<std::uint64_t>(0, kMaxTrialNs);

Segment segment(Object& object) {
  return {.frames = object.read("frames", integer<std::uint64_t>(0, kMaxFramesPerStream - 1)),
          .rate_fps = object.read("rate_fps", integer<std::uint64_t>(1, kMaxRateFps)),
          .pause_ns = object.read("pause_ns", kNanoseconds),
          .burst_frames =
              object.read_or("burst_frames", 1U, integer<std::uint32_t>(1, kMaxBurstFrames)),
          .burst_rate_fps = object.read_or("burst_rate_fps", std::uint64_t{0},
                                           integer<std::uint64_t>(0, kMaxRateFps))};
}

Mix mix(Object& object) {
  Mix mix;
  mix.n = object.read("n", integer<std::uint32_t>(1, kMaxMixN));
  mix.m = object.read("m", integer<std::uint32_t>(0, mix.n));
  mix.even = object.read_or("even", false, boolean);
  return mix;
}

Stream stream(Object& object) {
  return {.direction = object.read("direction", one_of(kDirections)),
          .mix = object.read("mix", mix),
          .segments = object.read("segments", list_of(1, kMaxSegments, segment)),
          .foreground = object.optional("foreground", read_traffic),
          .background = object.optional("background", read_traffic)};
}

Phase phase(Object& object) {
  return {.name = object["name"].text(),
          .gap_ns = object.read("gap_ns", kNanoseconds),
          .streams = object.read("streams", list_of(1, 2, stream)),
          .minimum_connections = object.read_or("minimum_connections", std::uint64_t{0},
                                                integer<std::uint64_t>(0, kMaxConnections))};
}

NextHop next_hop(Object& object) {
  return {.ipv4 = object.optional("ipv4", address<4>),
          .ipv6 = object.optional("ipv6", address<16>),
          .mac = object.optional("mac", mac_address)};
}

VlanTag vlan_tag(Object& object) {
  return {.tpid = object.read_or("tpid", VlanTag{}.tpid, one_of(kTagTypes)),
          .id = object.read("id", integer<std::uint16_t>(1, kMaxVlanId)),
          .priority = object.read_or("priority", std::uint8_t{0}, integer<std::uint8_t>(0, 7))};
}

SideSpec side(Object& object) {
  return {
      .next_hop = object.read("next_hop", next_hop),
      .vlans = object.read_or("vlans", std::vector<VlanTag>{}, list_of(0, kMaxVlanTags, vlan_tag)),
      .own_addresses = object.read("own_addresses", list_of(0, kMaxOwnAddresses, own_address))};
}

std::array<SideSpec, 2> sides(Object& object) {
  return {object.read("left", side), object.read("right", side)};
}

WarmUp warm_up(Object& object) {
  return {.mode = object.read("mode", one_of(kWarmUpModes)),
          .timeout_ns = object.read("timeout_ns", kNanoseconds)};
}

Tags tags(Object& object) {
  return {.after_ns = object.read("after_ns", kNanoseconds),
          .count = object.read("count", integer<std::uint64_t>(1, kMaxTags))};
}

Recording recording(Object& object) {
  return {.tags = object.optional("tags", tags),
          .ipdv = object.read_or("ipdv", false, boolean),
          .frames = object.read_or("frames", false, boolean),
          .mappings = object.read_or("mappings", false, boolean)};
}

WatchedCpu watched_cpu(Object& object) {
  constexpr auto kThread = integer<std::int32_t>(0, std::numeric_limits<std::int32_t>::max());
  return {.cpu = object.read("cpu", integer<int>(0, kMaxWatched - 1)),
          .threads = object.read("threads", list_of(0, kMaxWatched, kThread))};
}

TrialSpec trial_spec(Object& object) {
  TrialSpec spec;
  spec.version = object.read("version", integer<int>(kVersion, kVersion));
  spec.seed = object.read("seed", kAnyNumber);
  spec.nonce =
      object.read("nonce", integer<std::uint32_t>(0, std::numeric_limits<std::uint32_t>::max()));
  spec.drain_ns = object.read("drain_ns", kNanoseconds);
  spec.frame_timeout_ns = object.read("frame_timeout_ns", kNanoseconds);
  spec.lateness_tolerance_ns = object.read("lateness_tolerance_ns", kNanoseconds);
  spec.early_end_ns = object.read_or("early_end_ns", spec.early_end_ns, kNanoseconds);
  spec.link_may_fall = object.read_or("link_may_fall", false, boolean);
  spec.realtime = object.read("realtime", boolean);
  spec.burst_limit_frames =
      object.read_or("burst_limit_frames", 0U, integer<std::uint32_t>(0, kMaxBurstLimit));
  spec.watched = object.read_or("watched", spec.watched, list_of(0, kMaxWatched, watched_cpu));
  spec.recording = object.read_or("recording", spec.recording, recording);
  spec.warm_up = object.read("warm_up", warm_up);
  spec.sides = object.read("sides", sides);
  spec.phases = object.read("phases", list_of(1, kMaxPhases, phase));
  return spec;
}

TrialSpec read_spec(const Json& json) {
  if (!json.is_object())
    throw SpecError("spec", shown(json) + " is not an object (expected {...})");
  auto spec = Value(json, "").read(trial_spec);
  validate(spec);
  return spec;
}

// --- requests ---------------------------------------------------------------------------

std::optional<std::uint64_t> id_of(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto id = json.find("id");
  if (id == json.end() || !id->is_number_unsigned()) return std::nullopt;
  return id->get<std::uint64_t>();
}

enum class Verb : std::uint8_t { kTrial, kCancel, kQuit };
const Names<Verb> kVerbs = {
    {"trial", Verb::kTrial}, {"cancel", Verb::kCancel}, {"quit", Verb::kQuit}};

Request simple_request(const Json& json) {
  if (!json.is_object())
    throw SpecError("line", shown(json) + " is not an object (expected {...})");
  return Value(json, "").read([](Object& object) -> Request {
    const auto verb = object.read("request", one_of(kVerbs));
    if (verb == Verb::kCancel) return CancelRequest{};
    if (verb == Verb::kQuit) return QuitRequest{};
    TrialRequest trial{.id = object.read("id", kAnyNumber), .spec = {}};
    (void)object["spec"];  // parse_request() reads it
    return trial;
  });
}

}  // namespace

TrialSpec parse_spec(std::string_view text) {
  const auto json = parse_json(text);
  if (json.is_discarded()) throw SpecError("spec", "is not JSON (expected an object)");
  return read_spec(json);
}

Request parse_request(std::string_view text) {
  const auto json = parse_json(text);
  if (json.is_discarded()) {
    throw RequestError(std::nullopt, ErrorKind::kRequest,
                       "line: is not JSON (expected one request per line)");
  }
  const auto id = id_of(json);
  auto kind = ErrorKind::kRequest;
  try {
    auto request = simple_request(json);
    kind = ErrorKind::kSpec;
    if (auto* trial = std::get_if<TrialRequest>(&request)) trial->spec = read_spec(json["spec"]);
    return request;
  } catch (const SpecError& error) {
    throw RequestError(id, kind, error.what());
  }
}

}  // namespace natxy::spec
