// Owns an Ethernet device of DPDK and the objects that belong to it.
#pragma once

#include <rte_ethdev.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "port/device_string.hpp"

struct rte_ring;  // NOLINT(readability-identifier-naming): DPDK's

namespace natxy::port {

// Switches flow control off: a port that is paused, or pauses its peer, hides losses. Returns
// whether it stays on. Both functions return 0 or a negative errno, as DPDK's do.
using FlowControl = std::function<int(rte_eth_fc_conf&)>;
[[nodiscard]] bool flow_control_stays(const FlowControl& get, const FlowControl& set);

class EthDevice {
 public:
  // Finds a PCI device, or creates a virtual one. Throws TrialError (device).
  static EthDevice probe(const DeviceString& device);
  // Makes a device over rings that the caller owns: a receive queue for each ring of `rx`. Transmit
  // queue i ends in ring i of `tx`; if there are more queues than rings, they begin anew at ring 0.
  static EthDevice over_rings(std::vector<rte_ring*> rx, const std::vector<rte_ring*>& tx,
                              unsigned tx_queues);

  EthDevice(EthDevice&& other) noexcept;
  EthDevice(const EthDevice&) = delete;
  EthDevice& operator=(const EthDevice&) = delete;
  EthDevice& operator=(EthDevice&&) = delete;
  ~EthDevice();  // stops and closes the device

  [[nodiscard]] std::uint16_t id() const { return id_; }
  // Switches the flow control of a started device off. Returns false if it stays on.
  bool end_flow_control() const;
  // Returns one of the counters that drivers name themselves; 0 if this one has no such counter.
  [[nodiscard]] std::uint64_t extended_counter(const char* name) const;

 private:
  static constexpr std::uint16_t kNone = 0xffff;
  EthDevice(std::uint16_t id, std::string made) : id_(id), made_(std::move(made)) {}

  std::uint16_t id_ = kNone;
  std::string made_;  // name of the virtual device to remove; empty if there is none
};

struct RingDeleter {
  void operator()(rte_ring* ring) const;
};
using Ring = std::unique_ptr<rte_ring, RingDeleter>;

enum class Producers : std::uint8_t { kOne, kMany };

// Makes a ring with one consumer. Throws TrialError (device).
[[nodiscard]] Ring make_ring(unsigned frames, Producers producers);

}  // namespace natxy::port
