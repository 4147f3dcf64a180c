// The record of the stateful translation.
#pragma once

#include <cstdint>

namespace natxy::gateway {

struct NatRecord {
  std::uint64_t created = 0;
  std::uint64_t refused_full = 0;  // from here: new connections that were refused
  std::uint64_t refused_rate = 0;
  std::uint64_t refused_limit = 0;
  std::uint64_t refused_ports = 0;
  std::uint64_t overwritten = 0;
  std::uint64_t expired = 0;
  std::uint64_t flushed = 0;
  std::uint64_t collided = 0;  // from here: configured faults and requests that took effect
  std::uint64_t forgotten = 0;
  std::uint64_t changed = 0;
  std::uint64_t peak = 0;      // most connections at the same time
  std::uint64_t entries = 0;   // connections when the record was read
  std::uint64_t outbound = 0;  // packets translated
  std::uint64_t inbound = 0;
};

}  // namespace natxy::gateway
