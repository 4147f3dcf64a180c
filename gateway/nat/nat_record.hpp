// What the stateful translation did since the record began.
#pragma once

#include <cstdint>

namespace natxy::gateway {

struct NatRecord {
  std::uint64_t created = 0;
  std::uint64_t refused_full = 0;  // connections that would have been new
  std::uint64_t refused_rate = 0;
  std::uint64_t refused_ports = 0;
  std::uint64_t overwritten = 0;
  std::uint64_t expired = 0;
  std::uint64_t flushed = 0;
  std::uint64_t collided = 0;  // ordered faults that were carried out
  std::uint64_t forgotten = 0;
  std::uint64_t changed = 0;
  std::uint64_t peak = 0;      // most connections at a time
  std::uint64_t entries = 0;   // when the record was taken
  std::uint64_t outbound = 0;  // packets translated
  std::uint64_t inbound = 0;
};

}  // namespace natxy::gateway
