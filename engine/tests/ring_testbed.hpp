// The engine as it is and the calibration gateway, in one process, joined by net_ring.
//
// Rings are long and trials short, so that nothing is lost for want of room, however seldom the
// scheduler lets a thread run: what is counted depends on the gateway's orders alone.
#pragma once

#include <rte_ethdev.h>
#include <rte_malloc.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "gateway/json.hpp"
#include "gateway/ring_gateway.hpp"
#include "port/device.hpp"
#include "port/tsc_rate.hpp"
#include "ring_books.hpp"
#include "ring_environment.hpp"
#include "ring_nets.hpp"
#include "run/trial.hpp"

namespace natxy::tests {

struct TestbedOptions {
  unsigned workers = 1;
  unsigned tx_queues = 1;
  unsigned ring_frames = 8192;  // of each ring; it holds one fewer
  const char* device = "ring";  // whose traits the tester's ports have
  bool start_gateway = true;
  // Of the clock with which the tester's ports stamp what arrives; empty: they have none.
  port::PortClock::Read clock;
  // Called by the gateway's thread for every frame that arrives at a tester's port.
  std::function<void(rte_mbuf*)> arriving;
};

inline run::TickRate tick_rate() {
  static const run::TickRate rate(port::TscRate().hz());
  return rate;
}

class RingTestbed {
 public:
  explicit RingTestbed(const std::string& config, const TestbedOptions& options = {})
      : options_(options),
        to_gateway_{ring(port::Producers::kMany), ring(port::Producers::kMany)},
        to_tester_{ring(port::Producers::kOne), ring(port::Producers::kOne)},
        far_ends_{far_end(0), far_end(1)},
        device_({port(spec::Side::kLeft), port(spec::Side::kRight)},
                ring_worker_cpus(options.workers), tick_rate()),
        config_(with_neighbours(gateway::parse_config(config))),
        gateway_({.left_port = far_ends_[0].id(),
                  .right_port = far_ends_[1].id(),
                  .config = config_,
                  .mtu_bytes = kMtuBytes}) {
    if (options_.arriving) {
      for (unsigned i = 0; i < 2; ++i) {
        touching_[i] = rte_eth_add_tx_callback(far_ends_[i].id(), 0, touch, &options_.arriving);
      }
    }
    if (options.start_gateway) gateway_.start();
  }
  // Buffers go back to their pools before these go.
  ~RingTestbed() {
    gateway_.stop();
    for (unsigned i = 0; i < 2 * options_.ring_frames / gateway::EthernetPort::kBurst; ++i) {
      gateway_.step();
      device_.idle();
    }
    for (unsigned i = 0; i < 2; ++i) {
      if (touching_[i] == nullptr) continue;
      rte_eth_remove_tx_callback(far_ends_[i].id(), 0, touching_[i]);
      rte_free(const_cast<rte_eth_rxtx_callback*>(touching_[i]));  // ours to free when none runs
    }
  }
  RingTestbed(const RingTestbed&) = delete;
  RingTestbed& operator=(const RingTestbed&) = delete;

  // One trial; it is repeated where a core was taken away from the engine or the gateway for so
  // long that not all frames arrived in time: both say themselves how long they were away.
  [[nodiscard]] Observed run(spec::TrialSpec spec) {
    auto seen = run_once(spec);
    for (int i = 1; i < kAttempts && disturbed(seen, spec.drain_ns); ++i) {
      device_.idle();  // what came too late goes
      gateway_.configure(config_);
      spec.nonce += 0x10000;
      seen = run_once(spec);
    }
    return seen;
  }
  // The gateway's MAC addresses are filled in where the spec names no next hop.
  [[nodiscard]] Observed run_once(spec::TrialSpec spec, const run::Poll& poll = {}) {
    for (const auto side : {spec::Side::kLeft, spec::Side::kRight}) {
      auto& hop = spec.sides[static_cast<std::size_t>(side)].next_hop;
      if (!hop.ipv4 && !hop.ipv6) hop.mac = gateway_.mac(static_cast<gateway::Side>(side));
    }
    const auto quiet = [](const spec::Progress&) {};
    const std::atomic<bool> go_on{false};
    auto result = run::TrialRunner<run::TscClock, port::Device>(device_).run(
        spec, poll ? poll : run::Poll(quiet), go_on);
    return {.result = std::move(result), .record = gateway_.record()};
  }

  void configure(const std::string& config) {
    config_ = with_neighbours(gateway::parse_config(config));
    gateway_.configure(config_);
  }
  [[nodiscard]] gateway::RingGateway& gateway() { return gateway_; }
  [[nodiscard]] port::Device& device() { return device_; }

 private:
  static constexpr std::uint16_t kMtuBytes = 1500;
  static constexpr int kAttempts = 20;

  // Frames are still on their way, and somebody was kept from moving them on: he says so, or the
  // gateway, away until after the end, has not taken or sent on what stands in its ring.
  static bool disturbed(const Observed& seen, std::uint64_t drain_ns) {
    if (books_balance(seen)) return false;
    if (longest_gap_ns(seen) > static_cast<double>(drain_ns) / 4) return true;
    return std::ranges::any_of(std::array{spec::Direction::kForward, spec::Direction::kReverse},
                               [&](auto direction) {
                                 const auto books = books_of(seen, direction);
                                 return books.received < books.offered || books.held > 0;
                               });
  }
  static double longest_gap_ns(const Observed& seen) {
    auto longest_ns = static_cast<double>(seen.record.polls.worst_gap_ns());
    for (const auto& worker : seen.result.workers) {
      longest_ns = std::max(longest_ns, worker.worst_loop_gap_ns);
    }
    return longest_ns;
  }

  [[nodiscard]] port::Ring ring(port::Producers producers) const {
    return port::make_ring(options_.ring_frames, producers);
  }
  [[nodiscard]] port::EthDevice far_end(unsigned side) const {
    return port::EthDevice::over_rings(to_gateway_[side].get(), to_tester_[side].get(), 1);
  }
  [[nodiscard]] std::unique_ptr<port::Port> port(spec::Side side) const {
    port::PortOptions options{.side = side, .device = port::parse_device(options_.device)};
    options.mtu_bytes = kMtuBytes;
    options.workers = options_.workers;
    options.tx_queues = options_.tx_queues;
    options.clock = options_.clock;
    const auto index = static_cast<unsigned>(side);
    return std::make_unique<port::Port>(
        options, port::EthDevice::over_rings(to_tester_[index].get(), to_gateway_[index].get(),
                                             options_.tx_queues));
  }
  static std::uint16_t touch(std::uint16_t, std::uint16_t, rte_mbuf** frames, std::uint16_t n,
                             void* arriving) {
    const auto& callback = *static_cast<std::function<void(rte_mbuf*)>*>(arriving);
    for (unsigned i = 0; i < n; ++i) callback(frames[i]);
    return n;
  }
  // Whoever a route leads to is the tester.
  [[nodiscard]] gateway::Config with_neighbours(gateway::Config config) const {
    for (const auto& route : config.routes) {
      if (!route.via) continue;
      const auto side = static_cast<spec::Side>(route.side);
      const auto mac = gateway::parse_mac(device_.info(side).mac);
      config.sides[gateway::index_of(route.side)].neighbours[*route.via] = mac.value();
    }
    return config;
  }

  TestbedOptions options_;
  std::array<port::Ring, 2> to_gateway_;  // by Side
  std::array<port::Ring, 2> to_tester_;
  std::array<port::EthDevice, 2> far_ends_;
  port::Device device_;
  gateway::Config config_;
  gateway::RingGateway gateway_;
  std::array<const rte_eth_rxtx_callback*, 2> touching_{};
};

}  // namespace natxy::tests
