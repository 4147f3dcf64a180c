// Compares the engine's counters of a trial with the gateway's record.
#pragma once

#include <numeric>

#include "gateway/record.hpp"
#include "ring_counts.hpp"
#include "spec/trial_result.hpp"

namespace natxy::tests {

struct Observed {
  spec::TrialResult result;
  gateway::Record record;
};

inline const gateway::DirectionRecord& record_of(const Observed& seen, spec::Direction direction) {
  return seen.record.of(static_cast<gateway::Direction>(direction));
}

inline std::uint64_t dropped(const gateway::DirectionRecord& record) {
  return std::accumulate(record.dropped.begin(), record.dropped.end(), std::uint64_t{0});
}

// The counters of one direction, over all phases.
struct Books {
  std::uint64_t offered = 0;   // by the engine, without refused ones
  std::uint64_t received = 0;  // by the gateway
  std::uint64_t held = 0;      // still in the gateway
  std::uint64_t forwarded = 0;
  std::uint64_t arrived = 0;  // at the engine
  [[nodiscard]] bool balance() const {
    return offered == received && held == 0 && forwarded == arrived;
  }
};

inline Books books_of(const Observed& seen, spec::Direction direction) {
  const auto& record = record_of(seen, direction);
  Books books{.received = record.received,
              .held = record.received + record.duplicated - record.forwarded - dropped(record),
              .forwarded = record.forwarded};
  for (const auto& stream : seen.result.streams) {
    if (stream.direction != direction) continue;
    books.offered += sent(stream) - stream.refused_by_gateway;
    books.arrived += arrived(stream);
  }
  return books;
}

inline bool books_balance(const Observed& seen) {
  return books_of(seen, spec::Direction::kForward).balance() &&
         books_of(seen, spec::Direction::kReverse).balance();
}

}  // namespace natxy::tests
