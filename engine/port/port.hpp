// One Ethernet port of the tester, with a transmit queue per sender and a receive queue per
// receiver.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "port/device_string.hpp"
#include "port/eth_device.hpp"
#include "port/ip_address.hpp"
#include "port/kernel_interface.hpp"
#include "port/port_clock.hpp"
#include "port/rx_queue.hpp"
#include "port/tx_queue.hpp"
#include "spec/event.hpp"
#include "spec/port_result.hpp"

namespace natxy::port {

// Returns by what a device that offers these hashes distributes frames among its receive queues
// (RSS). Throws TrialError (device) for one that does not hash the ports of UDP: all frames between
// two addresses would come to one queue.
[[nodiscard]] std::uint64_t distributed_by(const DeviceString& device, std::uint64_t offered);

// Returns how many transmit queues a driver lets the port use beside so many receive queues. The
// queues of net_virtio are pairs: without RSS, the device distributes frames among all pairs as it
// likes, and nobody would empty the receive queue of a second one.
[[nodiscard]] unsigned tx_queue_limit(const std::string& driver, unsigned offered,
                                      unsigned rx_queues);

// Returns how many frames the ring of a started queue holds: at most what it was asked for. A
// driver may make a smaller ring and not tell (net_virtio takes the device's size), but it has
// filled it with buffers of the queue's pool. A driver that has taken none gets its buffers later.
[[nodiscard]] std::uint32_t ring_frames(const rte_mempool* pool, std::uint32_t asked_for);

struct PortOptions {
  spec::Side side = spec::Side::kLeft;
  DeviceString device;
  std::uint16_t mtu_bytes = 1500;
  unsigned workers = 1;
  std::optional<unsigned> tx_queues;  // absent: one per worker, or as many as the device has
  unsigned rx_queues = 1;             // among which the device distributes the frames by flow
  bool own_clock = true;              // use the clock of a port that time-stamps arrivals
  PortClock::Read clock;              // the clock of a port over rings with time stamps
};

struct PoolDeleter {
  void operator()(rte_mempool* pool) const { rte_mempool_free(pool); }
};
using Pool = std::unique_ptr<rte_mempool, PoolDeleter>;

class Port {
 public:
  // Creates and starts the device that the options name. Throws TrialError (device).
  [[nodiscard]] static std::unique_ptr<Port> open(const PortOptions& options);
  // Starts a device that exists; uses only the driver's traits of the device string.
  Port(const PortOptions& options, EthDevice device);

  [[nodiscard]] unsigned tx_queues() const { return static_cast<unsigned>(tx_queues_.size()); }
  [[nodiscard]] TxQueue& tx_queue(unsigned index) { return tx_queues_[index]; }
  [[nodiscard]] unsigned rx_queues() const { return static_cast<unsigned>(rx_queues_.size()); }
  [[nodiscard]] RxQueue& rx_queue(unsigned index = 0) { return rx_queues_[index]; }
  // Returns a reader of the clock of the port's time stamps; empty if the port makes none, or if
  // they are not to be used.
  [[nodiscard]] PortClock::Read clock_reader() const;
  [[nodiscard]] rte_ring* deferred() { return deferred_.get(); }
  [[nodiscard]] rte_mempool* answers() { return answers_.get(); }
  [[nodiscard]] std::uint16_t id() const { return device_.id(); }
  [[nodiscard]] const Mac& mac() const { return mac_; }
  [[nodiscard]] std::uint16_t mtu_bytes() const { return options_.mtu_bytes; }
  [[nodiscard]] std::uint32_t rx_ring_frames() const { return rx_ring_frames_; }
  [[nodiscard]] const std::string& device() const { return options_.device.text; }

  [[nodiscard]] bool link_up() const;
  // Returns whether info() has the speed: the link is up, or the driver tells no speed.
  [[nodiscard]] bool speed_known() const { return !traits_.has_link_speed || link_up(); }
  // Checks whether the link has gone down since the last call, for counters(); the kernel counts
  // this for its own interfaces. Only the control thread may call it.
  void watch_link();
  // Starts the device again if its link is down and the driver does not reconnect by itself. Must
  // not be called while workers run, nor while DPDK's interrupt thread handles the loss of the link
  // (see plumbing/dpdk.hpp).
  void reconnect();
  // Returns whether the driver unmaps its rings in the interrupt thread when the peer ends.
  [[nodiscard]] bool unmaps_rings() const { return traits_.unmaps_rings; }
  // Returns false after a reconnect that failed; queues must not be polled then.
  [[nodiscard]] bool started() const { return started_; }
  [[nodiscard]] spec::PortInfo info() const;
  // Returns the counters since the port was opened. Only the control thread may call it.
  [[nodiscard]] spec::PortCounters counters();

 private:
  void configure(unsigned tx_queues, const rte_eth_dev_info& info);
  void distribute_frames(rte_eth_conf& configuration, const rte_eth_dev_info& info) const;
  void check_rx_queues(unsigned limit) const;
  void set_up_receiving();
  void set_up_sending(unsigned tx_queues);
  void start();
  [[nodiscard]] unsigned tx_queues_to_use(unsigned limit) const;
  [[nodiscard]] std::uint32_t smallest_ring_frames() const;
  [[nodiscard]] Mac read_mac() const;
  [[nodiscard]] std::optional<std::uint64_t> read_clock() const;
  [[nodiscard]] std::uint16_t data_room_bytes() const;
  [[nodiscard]] unsigned rx_pool_frames() const;
  [[nodiscard]] unsigned tx_pool_frames() const;
  void check(int status, const char* what) const;

  // In the order of construction: pools and rings must outlive the device that uses them.
  PortOptions options_;
  DriverTraits traits_;
  std::vector<Pool> rx_pools_;  // by receive queue
  Pool answers_;
  Ring deferred_;
  std::deque<TxQueue> tx_queues_;
  EthDevice device_;
  std::deque<RxQueue> rx_queues_;
  Mac mac_{};
  std::string driver_;
  std::uint16_t rx_descriptors_ = 0;
  std::uint16_t tx_descriptors_ = 0;
  std::uint32_t rx_ring_frames_ = 0;
  bool stamps_ = false;        // the device time-stamps arrivals
  bool flow_control_ = false;  // stays on
  bool started_ = false;
  InterfaceCounters last_interface_{};
  std::uint64_t kernel_rx_dropped_ = 0;
  bool watched_up_ = false;  // the link was up at the last call of watch_link()
  std::uint64_t falls_seen_ = 0;
  LinkFalls link_falls_;
};

}  // namespace natxy::port
