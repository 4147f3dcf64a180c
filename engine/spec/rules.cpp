#include "spec/rules.hpp"

#include <algorithm>
#include <string>

namespace natxy::spec {
namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
constexpr std::uint64_t kTooLong = kMaxTrialNs + 1;
constexpr const char* kKindNames[] = {"foreground", "background"};
constexpr const char* kSideNames[] = {"left", "right"};

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
  const auto [role, order, segment, first] = *stream.foreground->connections;
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

// Two sorts of so many mappings take less time than the package waits for an engine.
constexpr std::uint64_t kMaxMapped = 10'000'000;

void check_mappings(const TrialSpec& spec) {
  if (!spec.recording.mappings) return;
  if (establishing_stream(spec) == nullptr) {
    throw SpecError("recording.mappings",
                    "is true in a trial without connections (expected false)");
  }
  if (entries_of(spec) <= kMaxMapped) return;
  throw SpecError("recording.mappings", "is not possible with " + text(entries_of(spec)) +
                                            " connections (expected at most " + text(kMaxMapped) +
                                            ")");
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
  const auto [n, m, even] = stream.mix;
  const auto foreground =
      even ? (total * m + n - 1) / n : total / n * m + std::min<std::uint64_t>(total % n, m);
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
  check_mappings(spec);
  if (duration_ns(spec) <= kMaxTrialNs) return;
  throw SpecError("phases", "the trial with its drains and gaps is too long (expected at most " +
                                text(kMaxTrialNs) + " ns)");
}

}  // namespace natxy::spec
