// Phase 1 as a trial carries it out: how many connections a second two cores establish, and what
// one takes of memory.
#pragma once

#include <cstdint>
#include <vector>

#include "port/device.hpp"
#include "run/clock.hpp"
#include "run/trial.hpp"

namespace natxy::bench {

struct Establishment {
  std::uint64_t connections = 0;  // that the table has at the end
  double preparation_s = 0;       // most of which is the first touch of the table's memory
  double per_second = 0;
  double replies_per_second = 0;  // to connections in pseudorandom order, as fast as it goes
  double table_octets = 0;        // a connection
  double resident_octets = 0;     // a connection, by which the process grew
  std::uint64_t page_bytes = 0;
};

// Whole trials over rings between the ports: one core sends, another receives and checks every
// frame. They throw std::runtime_error where a frame was lost; a sender that is late by a second
// gives up, as in any trial.
class ConnectionBench {
 public:
  // EAL is up with these two CPUs.
  ConnectionBench(const std::vector<int>& cpus, run::TickRate ticks);

  // Phase 1, which fills a table of its own; then the responder answers.
  [[nodiscard]] Establishment establish(std::uint64_t connections, std::uint64_t rate_fps);
  // The same frames without connections: how many a second.
  [[nodiscard]] double stateless(std::uint64_t frames);

 private:
  using Runner = run::TrialRunner<run::TscClock, port::Device>;
  [[nodiscard]] spec::TrialResult run(Runner& runner, const std::vector<spec::Phase>& phases);

  port::Ring there_;
  port::Ring back_;
  port::Device device_;
  std::uint32_t nonce_ = 0;  // frames of a trial that failed are another's
};

}  // namespace natxy::bench
