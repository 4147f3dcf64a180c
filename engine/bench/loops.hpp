// The loops that are timed: the engine's own senders and receivers over net_null and net_ring, and
// the bare loops that they are held against.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "port/port.hpp"
#include "port/workers.hpp"
#include "run/sender.hpp"
#include "run/stream_plan.hpp"

namespace natxy::bench {

// IPv6 both ways unless said otherwise, ports of RFC 4814.
[[nodiscard]] spec::Traffic random_ports(spec::IpVersion version = spec::IpVersion::k6);
// All pairs of ports, each once, pseudorandom: 3,170,829,312 if not said otherwise.
[[nodiscard]] spec::Traffic enumerated(std::uint16_t destination_ports = 49151);
// 256 destination networks and a pseudorandom field in the source address besides.
[[nodiscard]] spec::Traffic varied();

struct Case {
  spec::Traffic traffic;
  spec::Mix mix;  // background, where there is some, is random_ports()
  std::uint16_t frame_size_bytes = 84;
  unsigned burst = run::kMaxBurst;  // or 1: each frame due when the one before has gone
};

struct Compared {  // cycles a frame
  double ours;
  double bare;
};

class Bench {
 public:
  // EAL is up with two worker CPUs: the first is timed, the second is the peer.
  Bench(std::vector<int> cpus, run::TickRate ticks);

  [[nodiscard]] double sender_on_null(const Case& which);
  // The peer empties the ring: what a cache line costs that moves between cores is in it.
  [[nodiscard]] Compared sender_on_ring(const Case& which);
  // Frames come from the same core: what the checks cost, memory apart.
  [[nodiscard]] Compared receiver_on_ring(const Case& which);
  // Frames come from the peer.
  [[nodiscard]] Compared receiver_across_cores(const Case& which);

 private:
  template <class InChunks>
  [[nodiscard]] Compared receiver(const Case& which, const InChunks& in_chunks);
  // A benchmark that loses frames measures something else.
  static void expect_all(const char* who, std::uint64_t frames);
  [[nodiscard]] run::StreamPlan plan(const Case& which, std::uint64_t frames) const;
  [[nodiscard]] double cycles(double cpu_ns, std::uint64_t frames) const;
  void on_timed_worker(std::function<void()> work);
  void on_both_workers(std::function<void()> timed, std::function<void()> peer);

  run::TickRate ticks_;
  port::Workers workers_;
  std::unique_ptr<port::Port> null_;
  port::Ring ring_;
  std::unique_ptr<port::Port> loop_;  // sends to itself through ring_
};

}  // namespace natxy::bench
