// Phase 1 as a trial carries it out: how many connections a second two cores establish, and what
// one takes of memory.
#pragma once

#include <cstdint>
#include <vector>

#include "run/clock.hpp"

namespace natxy::bench {

struct Establishment {
  std::uint64_t connections = 0;  // that the table has at the end
  double per_second = 0;
  double replies_per_second = 0;  // to connections in pseudorandom order, as fast as it goes
  double table_octets = 0;        // a connection
  double resident_octets = 0;     // a connection, by which the process grew
  std::uint64_t page_bytes = 0;
};

// A whole trial over rings between the ports: one core sends, another receives, checks every frame
// and fills the table; then the responder answers. EAL is up with these two CPUs. Throws
// std::runtime_error where a frame was lost; a sender that is late by a second gives up, as in any
// trial.
[[nodiscard]] Establishment establish(std::uint64_t connections, std::uint64_t rate_fps,
                                      const std::vector<int>& cpus, run::TickRate ticks);

}  // namespace natxy::bench
