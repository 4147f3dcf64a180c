// One Ethernet port of the tester: one receive queue, as many transmit queues as it has senders.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "port/driver_traits.hpp"
#include "port/eth_device.hpp"
#include "port/ip_address.hpp"
#include "port/kernel_interface.hpp"
#include "port/link_changes.hpp"
#include "port/port_clock.hpp"
#include "port/rx_queue.hpp"
#include "port/tx_queue.hpp"
#include "port/umem_pool.hpp"
#include "spec/event.hpp"
#include "spec/port_counters.hpp"

namespace natxy::port {

inline constexpr std::uint16_t kEthernetOverhead = 18;  // header and FCS

struct PortOptions {
  spec::Side side = spec::Side::kLeft;
  DeviceString device;
  std::uint16_t mtu_bytes = 1500;
  unsigned workers = 1;
  std::optional<unsigned> tx_queues;  // absent: one a worker, or as many as the device has
  bool own_clock = true;              // of a port that stamps what arrives
  PortClock::Read clock;              // of a port over rings that bear stamps
};

struct PoolDeleter {
  void operator()(rte_mempool* pool) const { rte_mempool_free(pool); }
};
using Pool = std::unique_ptr<rte_mempool, PoolDeleter>;

class Port {
 public:
  // Makes and starts the device that the options name. Throws TrialError (device).
  [[nodiscard]] static std::unique_ptr<Port> open(const PortOptions& options);
  // Starts a device that exists; of the device string only the driver's traits are used.
  Port(const PortOptions& options, EthDevice device);

  [[nodiscard]] unsigned tx_queues() const { return static_cast<unsigned>(tx_queues_.size()); }
  [[nodiscard]] TxQueue& tx_queue(unsigned index) { return tx_queues_[index]; }
  [[nodiscard]] RxQueue& rx_queue() { return rx_queue_; }
  // Of the clock with which it stamps what arrives; empty: it does not, or was asked not to.
  [[nodiscard]] PortClock::Read clock_reader() const;
  [[nodiscard]] rte_ring* deferred() { return deferred_.get(); }
  [[nodiscard]] rte_mempool* answers() { return answers_.get(); }
  [[nodiscard]] std::uint16_t id() const { return device_.id(); }
  [[nodiscard]] const Mac& mac() const { return mac_; }
  [[nodiscard]] std::uint16_t mtu_bytes() const { return options_.mtu_bytes; }
  [[nodiscard]] std::uint32_t rx_ring_frames() const { return rx_ring_frames_; }
  [[nodiscard]] const std::string& device() const { return options_.device.text; }

  [[nodiscard]] bool link_up() const;
  // Looks whether the link has gone down since the last look, for counters(). The kernel counts
  // that of an interface of its own; of the control thread alone.
  void watch_link();
  // Of a link that is down: tries again where the device does not by itself. Not while workers run,
  // and not within milliseconds of the loss, which a thread of DPDK's is busy with then.
  void reconnect();
  // False after a reconnect in vain: queues must not be polled.
  [[nodiscard]] bool started() const { return started_; }
  [[nodiscard]] spec::PortInfo info() const;
  // Since the port was opened. Of the control thread alone.
  [[nodiscard]] spec::PortCounters counters();

 private:
  void configure(unsigned tx_queues);
  void set_up_receiving();
  void set_up_sending(unsigned tx_queues);
  void start();
  [[nodiscard]] unsigned tx_queues_to_use(unsigned limit) const;
  [[nodiscard]] Mac read_mac() const;
  [[nodiscard]] std::optional<std::uint64_t> read_clock() const;
  [[nodiscard]] std::uint16_t data_room_bytes() const;
  [[nodiscard]] unsigned tx_pool_frames() const;
  void check(int status, const char* what) const;

  // In the order in which they are needed: pools and rings outlive the device that uses them.
  PortOptions options_;
  DriverTraits traits_;
  Pool rx_pool_;
  Pool answers_;
  Ring deferred_;
  std::deque<TxQueue> tx_queues_;
  EthDevice device_;
  RxQueue rx_queue_;
  Mac mac_{};
  std::string driver_;
  std::uint16_t rx_descriptors_ = 0;
  std::uint16_t tx_descriptors_ = 0;
  std::uint32_t rx_ring_frames_ = 0;
  bool stamps_ = false;  // the device was asked to, and takes that
  bool started_ = false;
  InterfaceCounters last_interface_{};
  std::uint64_t kernel_rx_dropped_ = 0;
  bool watched_up_ = false;  // at the last look
  std::uint64_t falls_seen_ = 0;
  LinkFalls link_falls_;
};

}  // namespace natxy::port
