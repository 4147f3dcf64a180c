// The engine and the calibration gateway in one process and in real time, connected by net_ring.
// For tests that do not depend on time, see lockstep_testbed.hpp.
#pragma once

#include <rte_ethdev.h>
#include <rte_malloc.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>

#include "gateway/json.hpp"
#include "gateway/ring_gateway.hpp"
#include "port/device.hpp"
#include "port/machine.hpp"
#include "requests.hpp"
#include "ring_books.hpp"
#include "ring_nets.hpp"
#include "ring_wiring.hpp"

namespace natxy::tests {

inline run::TickRate tick_rate() {
  static const run::TickRate rate(port::TscRate().hz());
  return rate;
}

class RingTestbed {
 public:
  explicit RingTestbed(const std::string& config, const TestbedOptions& options = {})
      : wiring_(options),
        device_(wiring_.tester_ports(), ring_worker_cpus(options.workers), tick_rate()),
        gateway_({.left_port = wiring_.far_end_of(gateway::Side::kLeft),
                  .right_port = wiring_.far_end_of(gateway::Side::kRight),
                  .config = with_neighbours(gateway::parse_config(config), device_),
                  .mtu_bytes = RingWiring::kMtuBytes}) {
    if (!options.arriving) return;
    for (const auto side : gateway::kSides) {
      touching_[gateway::index_of(side)] = rte_eth_add_tx_callback(
          wiring_.far_end_of(side), 0, touch, const_cast<void*>(arriving()));
    }
  }
  // Buffers return to their pools before the pools are destroyed.
  ~RingTestbed() {
    gateway_.stop();
    for (unsigned i = 0; i < wiring_.flushing_turns(); ++i) {
      gateway_.step();
      device_.idle();
    }
    for (const auto side : gateway::kSides) {
      const auto* touching = touching_[gateway::index_of(side)];
      if (touching == nullptr) continue;
      rte_eth_remove_tx_callback(wiring_.far_end_of(side), 0, touching);
      rte_free(const_cast<rte_eth_rxtx_callback*>(touching));  // freed when no call is running
    }
  }
  RingTestbed(const RingTestbed&) = delete;
  RingTestbed& operator=(const RingTestbed&) = delete;

  [[nodiscard]] Observed run(const spec::TrialSpec& spec) {
    const auto quiet = [](const spec::Progress&) {};
    const std::atomic<bool> go_on{false};
    auto result = engine_over(device_, nullptr).run(with_next_hops(spec, gateway_), quiet, go_on);
    return {.result = std::move(result), .record = gateway_.record()};
  }
  [[nodiscard]] gateway::RingGateway& gateway() { return gateway_; }
  // Drops the frames that arrived too late.
  void idle() { device_.idle(); }

 private:
  [[nodiscard]] const void* arriving() const { return &wiring_.options().arriving; }
  static std::uint16_t touch(std::uint16_t, std::uint16_t, rte_mbuf** frames, std::uint16_t n,
                             void* arriving) {
    const auto& callback = *static_cast<std::function<void(rte_mbuf*)>*>(arriving);
    for (unsigned i = 0; i < n; ++i) callback(frames[i]);
    return n;
  }

  RingWiring wiring_;
  port::Device device_;
  gateway::RingGateway gateway_;
  std::array<const rte_eth_rxtx_callback*, 2> touching_{};
};

}  // namespace natxy::tests
