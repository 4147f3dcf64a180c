#include "gateway/faults/fault_json.hpp"

#include <functional>
#include <map>
#include <optional>

#include "gateway/json.hpp"
#include "gateway/json_value.hpp"

namespace natxy::gateway {

using plumbing::Names;
using plumbing::Object;
using plumbing::Value;

namespace {

constexpr Range kRate{1, 1'000'000'000};
constexpr Range kFrames{1, 1'000'000'000};

FaultKind read_reorder(Object& object) {
  Reorder reorder;
  reorder.every = number(object, "every", {2, kFrames.max});
  reorder.by = number_or(object, "by", 1, {1, reorder.every - 1});
  reorder.within_ns = number_or(object, "within_ns", reorder.within_ns, kDuration_ns);
  return reorder;
}

Names<CorruptField> corrupt_fields() {
  Names<CorruptField> names;
  for (std::size_t i = 0; i < kCorruptFieldNames.size(); ++i) {
    names.emplace_back(kCorruptFieldNames[i], static_cast<CorruptField>(i));
  }
  return names;
}

FaultKind read_corrupt(Object& object) {
  Corrupt corrupt;
  corrupt.every = number(object, "every", kFrames);
  corrupt.field = object["field"].one_of(corrupt_fields());
  if (const auto fix = object.find("fix_checksum")) corrupt.fix_checksum = fix->boolean();
  return corrupt;
}

std::vector<Nanoseconds> read_durations(const Value& value) {
  return value.list([](const Value& duration) { return read_number(duration, kDuration_ns); });
}

FaultKind read_delay(Object& object) {
  Delay delay;
  const auto fixed = object.find("ns");
  const auto pattern = object.find("pattern_ns");
  const auto uniform = object.find("uniform_ns");
  if (fixed.has_value() + pattern.has_value() + uniform.has_value() != 1) {
    throw ConfigError(object.path_of("ns"),
                      "the delay is missing or given more than once (expected one of ns, "
                      "pattern_ns and uniform_ns)");
  }
  if (fixed) {
    delay.pattern_ns = {read_number(*fixed, kDuration_ns)};
  } else if (pattern) {
    delay.pattern_ns = read_durations(*pattern);
    if (delay.pattern_ns.empty()) {
      throw ConfigError(pattern->path(), "is empty (expected at least one delay)");
    }
  } else {
    const auto ends = read_durations(*uniform);
    if (ends.size() != 2 || ends[0] > ends[1]) {
      throw ConfigError(uniform->path(), "is not a range of delays (expected [least, most])");
    }
    delay.uniform_ns = {ends[0], ends[1]};
  }
  delay.seed = number_or(object, "seed", 0, kAny);
  return delay;
}

FaultKind read_rate_limit(Object& object) {
  return RateLimit{.rate_fps = number(object, "rate_fps", kRate),
                   .depth = number_or(object, "depth", 1, kFrames)};
}

DepartureSegment read_departure_segment(const Value& value) {
  Object object(value);
  const DepartureSegment segment{.frames = number(object, "frames", kFrames),
                                 .rate_fps = number(object, "rate_fps", kRate)};
  object.close();
  return segment;
}

std::vector<DepartureSegment> read_departures(Object& object) {
  const auto found = object.find("departures");
  if (!found) return {};
  auto segments = found->list(read_departure_segment);
  if (segments.empty())
    throw ConfigError(found->path(), "is empty (expected at least one segment)");
  return segments;
}

FaultKind read_buffer(Object& object) {
  return Buffer{.frames = number(object, "frames", kFrames),
                .drain_fps = number(object, "drain_fps", kRate),
                .departures = read_departures(object)};
}

FaultKind read_sulk(Object& object) {
  return Sulk{.rate_fps = number(object, "rate_fps", kRate),
              .depth = number_or(object, "depth", 1, kFrames),
              .for_ns = number(object, "for_ns", kDuration_ns),
              .departures = read_departures(object)};
}

using FaultReader = std::function<FaultKind(Object&)>;

const std::map<std::string, FaultReader>& fault_readers() {
  static const std::map<std::string, FaultReader> kReaders{
      {"rate_limit", read_rate_limit},
      {"loss", [](Object& o) { return Loss{.every = number(o, "every", kFrames)}; }},
      {"duplicate", [](Object& o) { return Duplicate{.every = number(o, "every", kFrames)}; }},
      {"reorder", read_reorder},
      {"corrupt", read_corrupt},
      {"delay", read_delay},
      {"buffer", read_buffer},
      {"sulk", read_sulk}};
  return kReaders;
}

std::optional<Direction> read_direction(Object& object) {
  static const Names<std::optional<Direction>> kNames{
      {"forward", Direction::kForward}, {"reverse", Direction::kReverse}, {"both", std::nullopt}};
  const auto found = object.find("direction");
  return found ? found->one_of(kNames) : std::nullopt;
}

}  // namespace

Fault read_fault(const Value& value) {
  Object object(value);
  const auto kind = object["kind"];
  const auto reader = fault_readers().find(kind.text());
  if (reader == fault_readers().end()) {
    kind.refuse(
        "is unknown (expected one of buffer, corrupt, delay, duplicate, loss, rate_limit, reorder, "
        "sulk, nat-collide, nat-forget, nat-change)");
  }
  Fault fault{.direction = read_direction(object), .kind = reader->second(object)};
  object.close();
  return fault;
}

}  // namespace natxy::gateway
