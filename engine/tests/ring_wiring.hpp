// The ports of the tester and of the gateway, connected by net_ring in one process.
#pragma once

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <array>
#include <functional>
#include <memory>

#include "gateway/config.hpp"
#include "gateway/side.hpp"
#include "port/device.hpp"
#include "ring_environment.hpp"

namespace natxy::tests {

struct TestbedOptions {
  unsigned workers = 1;
  unsigned tx_queues = 1;
  unsigned ring_frames = 8192;  // size of each ring, which holds one frame less
  const char* device = "ring";  // the device whose traits the tester's ports have
  bool start_gateway = true;
  // The clock with which the tester's ports time-stamp arrivals; empty: none.
  port::PortClock::Read clock;
  // Called by the gateway's thread for each frame that arrives at a port of the tester.
  std::function<void(rte_mbuf*)> arriving;
};

class RingWiring {
 public:
  static constexpr std::uint16_t kMtuBytes = 1500;

  explicit RingWiring(const TestbedOptions& options)
      : options_(options),
        to_gateway_{ring(port::Producers::kMany), ring(port::Producers::kMany)},
        to_tester_{ring(port::Producers::kOne), ring(port::Producers::kOne)},
        far_ends_{far_end(0), far_end(1)} {}

  [[nodiscard]] const TestbedOptions& options() const { return options_; }
  [[nodiscard]] std::uint16_t far_end_of(gateway::Side side) const {
    return far_ends_[gateway::index_of(side)].id();
  }
  [[nodiscard]] std::array<std::unique_ptr<port::Port>, 2> tester_ports() const {
    return {port(spec::Side::kLeft), port(spec::Side::kRight)};
  }
  // The number of turns of both ends after which the rings are empty.
  [[nodiscard]] unsigned flushing_turns() const { return 2 * options_.ring_frames / 32; }

 private:
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

  TestbedOptions options_;
  std::array<port::Ring, 2> to_gateway_;  // by Side
  std::array<port::Ring, 2> to_tester_;
  std::array<port::EthDevice, 2> far_ends_;
};

// All routes lead to the tester.
inline gateway::Config with_neighbours(gateway::Config config, const port::Device& tester) {
  for (const auto& route : config.routes) {
    if (!route.via) continue;
    const auto side = static_cast<spec::Side>(route.side);
    const auto mac = gateway::parse_mac(tester.info(side).mac);
    config.sides[gateway::index_of(route.side)].neighbours[*route.via] = mac.value();
  }
  return config;
}

// Sets the gateway's MAC addresses if the spec names no next hop.
template <class Gateway>
spec::TrialSpec with_next_hops(spec::TrialSpec spec, const Gateway& gateway) {
  for (const auto side : {spec::Side::kLeft, spec::Side::kRight}) {
    auto& hop = spec.sides[static_cast<std::size_t>(side)].next_hop;
    if (!hop.ipv4 && !hop.ipv6) hop.mac = gateway.mac(static_cast<gateway::Side>(side));
  }
  return spec;
}

}  // namespace natxy::tests
