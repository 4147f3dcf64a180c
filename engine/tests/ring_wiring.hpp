// The ports of the tester and of the gateway, connected by net_ring in one process.
#pragma once

#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "gateway/config.hpp"
#include "gateway/side.hpp"
#include "port/device.hpp"
#include "ring_environment.hpp"

namespace natxy::tests {

struct TestbedOptions {
  unsigned workers = 1;
  unsigned tx_queues = 1;
  unsigned rx_queues = 1;  // of each port of the tester, which distributes the frames by flow
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
        to_tester_{rings_to_tester(), rings_to_tester()},
        far_ends_{far_end(0), far_end(1)} {
    if (options.rx_queues == 1) return;
    for (unsigned side = 0; side < 2; ++side) {
      distributing_[side] =
          rte_eth_add_tx_callback(far_ends_[side].id(), 0, distribute, &to_tester_[side]);
    }
  }
  ~RingWiring() {
    for (unsigned side = 0; side < 2; ++side) {
      if (distributing_[side] == nullptr) continue;
      rte_eth_remove_tx_callback(far_ends_[side].id(), 0, distributing_[side]);
      rte_free(const_cast<rte_eth_rxtx_callback*>(distributing_[side]));
    }
  }
  RingWiring(const RingWiring&) = delete;  // the callbacks refer to it
  RingWiring& operator=(const RingWiring&) = delete;

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
  [[nodiscard]] std::vector<port::Ring> rings_to_tester() const {
    std::vector<port::Ring> rings;
    for (unsigned i = 0; i < options_.rx_queues; ++i) rings.push_back(ring(port::Producers::kOne));
    return rings;
  }
  [[nodiscard]] port::EthDevice far_end(unsigned side) const {
    return port::EthDevice::over_rings({to_gateway_[side].get()},
                                       {to_tester_[side].front().get()}, 1);
  }
  // Does what a NIC of the tester does with several receive queues: a hash of addresses and ports
  // chooses the queue. Frames for queue 0 are left to the gateway's own send call.
  static std::uint16_t distribute(std::uint16_t, std::uint16_t, rte_mbuf** frames, std::uint16_t n,
                                  void* rings) {
    const auto& queues = *static_cast<std::vector<port::Ring>*>(rings);
    std::uint16_t left = 0;
    for (unsigned i = 0; i < n; ++i) {
      const auto queue = flow_hash(*frames[i]) % queues.size();
      if (queue == 0) {
        frames[left++] = frames[i];
      } else if (rte_ring_enqueue(queues[queue].get(), frames[i]) != 0) {
        rte_pktmbuf_free(frames[i]);
      }
    }
    return left;
  }
  static std::size_t flow_hash(const rte_mbuf& frame) {
    const auto* octets = rte_pktmbuf_mtod(&frame, const std::uint8_t*);
    const bool six = octets[12] == 0x86;
    const std::size_t from = six ? 22 : 26;  // where the addresses begin, which ports follow
    const std::size_t to = six ? 58 : 38;
    std::uint64_t hash = 0xcbf29ce484222325;
    for (auto i = from; i < std::min<std::size_t>(to, frame.data_len); ++i) {
      hash = (hash ^ octets[i]) * 0x100000001b3;
    }
    return hash >> 32U;
  }
  [[nodiscard]] std::unique_ptr<port::Port> port(spec::Side side) const {
    port::PortOptions options{.side = side, .device = port::parse_device(options_.device)};
    options.mtu_bytes = kMtuBytes;
    options.workers = options_.workers;
    options.tx_queues = options_.tx_queues;
    options.rx_queues = options_.rx_queues;
    options.clock = options_.clock;
    const auto index = static_cast<unsigned>(side);
    std::vector<rte_ring*> arriving;
    for (const auto& ring : to_tester_[index]) arriving.push_back(ring.get());
    return std::make_unique<port::Port>(
        options, port::EthDevice::over_rings(std::move(arriving), {to_gateway_[index].get()},
                                             options_.tx_queues));
  }

  TestbedOptions options_;
  std::array<port::Ring, 2> to_gateway_;  // by Side
  std::array<std::vector<port::Ring>, 2> to_tester_;  // by Side, for each receive queue
  std::array<port::EthDevice, 2> far_ends_;
  std::array<const rte_eth_rxtx_callback*, 2> distributing_{};
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
