// An Ethernet device of DPDK's and the objects that go with it: found or made, and given back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "port/device_string.hpp"

struct rte_ring;  // NOLINT(readability-identifier-naming): DPDK's

namespace natxy::port {

class EthDevice {
 public:
  // Finds the device, or makes it where it is a virtual one; throws TrialError (device).
  static EthDevice probe(const DeviceString& device);
  // A device of rings that are the caller's: every transmit queue ends in tx.
  static EthDevice over_rings(rte_ring* rx, rte_ring* tx, unsigned tx_queues);

  EthDevice(EthDevice&& other) noexcept;
  EthDevice(const EthDevice&) = delete;
  EthDevice& operator=(const EthDevice&) = delete;
  EthDevice& operator=(EthDevice&&) = delete;
  ~EthDevice();  // stops and closes it

  [[nodiscard]] std::uint16_t id() const { return id_; }

 private:
  static constexpr std::uint16_t kNone = 0xffff;
  EthDevice(std::uint16_t id, std::string made) : id_(id), made_(std::move(made)) {}

  std::uint16_t id_ = kNone;
  std::string made_;  // name of the virtual device to remove
};

struct RingDeleter {
  void operator()(rte_ring* ring) const;
};
using Ring = std::unique_ptr<rte_ring, RingDeleter>;

enum class Producers : std::uint8_t { kOne, kMany };

// One consumer. Throws TrialError (device).
[[nodiscard]] Ring make_ring(unsigned frames, Producers producers);

}  // namespace natxy::port
