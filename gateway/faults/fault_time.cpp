#include "gateway/faults/fault_time.hpp"

#include <algorithm>

#include "gateway/packet.hpp"

namespace natxy::gateway {
namespace {

constexpr std::size_t kNumberOffset = 5;  // in the stamp, after the tag and the stream
constexpr std::size_t kNumberOctets = 5;  // little-endian
constexpr std::uint64_t kSecond = 1'000'000'000;

// Returns the time that frames take at a rate, rounded down. Exact: the product of the remainder
// and 10^9 is below 2^64 for rates up to 2^34.
Nanoseconds duration_ns(std::uint64_t frames, std::uint64_t rate_fps) {
  return frames / rate_fps * kSecond + frames % rate_fps * kSecond / rate_fps;
}

}  // namespace

std::optional<std::uint64_t> number_of(const Frame& frame) {
  const auto anatomy = dissect(frame);
  if (!anatomy || !anatomy->upper) return std::nullopt;
  const auto first = anatomy->upper->stamp() + kNumberOffset;
  if (first + kNumberOctets > anatomy->packet_end) return std::nullopt;
  std::uint64_t number = 0;
  for (std::size_t i = kNumberOctets; i-- > 0;) number = number << 8U | frame.octets[first + i];
  return number;
}

Nanoseconds FaultTime::departure_ns(std::uint64_t number) const {
  Nanoseconds start_ns = 0;
  auto segment = segments_.begin();
  for (; segment + 1 != segments_.end() && number >= segment->frames; ++segment) {
    start_ns += duration_ns(segment->frames, segment->rate_fps);
    number -= segment->frames;
  }
  return start_ns + duration_ns(number, segment->rate_fps);
}

Nanoseconds FaultTime::of(const Frame& frame, Nanoseconds now_ns) {
  if (!is_departures()) return now_ns;
  if (const auto number = number_of(frame)) {
    newest_ns_ = std::max(newest_ns_, departure_ns(*number));
  }
  return newest_ns_;
}

}  // namespace natxy::gateway
