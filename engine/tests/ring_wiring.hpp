// The ports of the tester and of the gateway, connected by net_ring in one process.
#pragma once

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "gateway/config.hpp"
#include "gateway/frame.hpp"
#include "port/device.hpp"
#include "ring_environment.hpp"

namespace natxy::tests {

struct TestbedOptions {
  unsigned workers = 1;
  unsigned tx_queues = 1;
  unsigned rx_queues = 1;       // of each port of the tester, which distributes the frames by flow
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
        from_gateway_{ring(port::Producers::kOne), ring(port::Producers::kOne)},
        far_ends_{far_end(0), far_end(1)} {}

  // Does what a NIC of the tester does with several receive queues: a hash of addresses and ports
  // chooses the queue. Called in the gateway's thread after each of its steps.
  void distribute() {
    if (options_.rx_queues == 1) return;
    for (unsigned side = 0; side < 2; ++side) {
      void* object = nullptr;
      while (rte_ring_dequeue(from_gateway_[side].get(), &object) == 0) {
        auto* frame = static_cast<rte_mbuf*>(object);
        const auto queue = flow_hash(*frame) % options_.rx_queues;
        ++distributed_[side][queue];
        if (rte_ring_enqueue(to_tester_[side][queue].get(), frame) != 0) rte_pktmbuf_free(frame);
      }
    }
  }

  [[nodiscard]] const TestbedOptions& options() const { return options_; }
  [[nodiscard]] std::uint16_t far_end_of(gateway::Side side) const {
    return far_ends_[gateway::index_of(side)].id();
  }
  [[nodiscard]] std::array<std::unique_ptr<port::Port>, 2> tester_ports() const {
    return {port(spec::Side::kLeft), port(spec::Side::kRight)};
  }
  // Returns how many frames a receive queue of the tester got from distribute().
  [[nodiscard]] std::uint64_t distributed(spec::Side side, unsigned queue) const {
    return distributed_[static_cast<std::size_t>(side)].at(queue);
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
  [[nodiscard]] rte_ring* leaving(unsigned side) const {
    return options_.rx_queues == 1 ? to_tester_[side].front().get() : from_gateway_[side].get();
  }
  [[nodiscard]] port::EthDevice far_end(unsigned side) const {
    return port::EthDevice::over_rings({to_gateway_[side].get()}, {leaving(side)}, 1);
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
  std::array<port::Ring, 2> to_gateway_;              // by Side
  std::array<std::vector<port::Ring>, 2> to_tester_;  // by Side, for each receive queue
  std::array<port::Ring, 2> from_gateway_;  // with several receive queues: to distribute()
  std::array<port::EthDevice, 2> far_ends_;
  std::array<std::array<std::uint64_t, 4>, 2> distributed_{};
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
