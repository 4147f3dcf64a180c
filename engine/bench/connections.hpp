// Measures phase 1 as a trial runs it: how many connections two cores establish per second, and the
// memory per connection.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "port/device.hpp"
#include "run/clock.hpp"
#include "run/trial.hpp"

namespace natxy::bench {

struct Establishment {
  std::uint64_t connections = 0;  // in the table at the end
  double preparation_s = 0;       // mostly the first access to the table's memory
  double per_second = 0;
  double replies_per_second = 0;  // in pseudorandom order, as fast as possible
  double table_octets = 0;        // per connection
  double resident_octets = 0;     // growth of the process per connection
  std::uint64_t page_bytes = 0;
};

// TCP handshakes: the rates of their three phases, and of all together.
struct Handshakes {
  std::uint64_t connections = 0;
  std::array<double, 3> phases_per_second{};  // SYN, SYN/ACK, ACK
  double per_second = 0;                      // connections / time to send of the three phases
};

// Runs whole trials over rings between the ports: one core sends, another receives and checks each
// frame. Throws std::runtime_error if a frame is lost. A sender that is late by a second gives up,
// as in any trial.
class ConnectionBench {
 public:
  // EAL must have been started with these two CPUs.
  ConnectionBench(const std::vector<int>& cpus, run::TickRate ticks);

  // Runs phase 1 with a new state table; then the responder answers.
  [[nodiscard]] Establishment establish(std::uint64_t connections, std::uint64_t rate_fps);
  // Makes TCP connections with a new state table, each phase at this rate.
  [[nodiscard]] Handshakes handshakes(std::uint64_t connections, std::uint64_t rate_fps);
  // Returns the rate of the same frames without connections.
  [[nodiscard]] double stateless(std::uint64_t frames);

 private:
  using Runner = run::TrialRunner<run::TscClock, port::Device>;
  [[nodiscard]] spec::TrialResult run(Runner& runner, const std::vector<spec::Phase>& phases);

  port::Ring there_;
  port::Ring back_;
  port::Device device_;
  std::uint32_t nonce_ = 0;  // differs between trials, so that frames of a failed one are foreign
};

}  // namespace natxy::bench
