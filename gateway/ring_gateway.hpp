// The gateway over two DPDK ports: net_ring in tests that run in one process with the engine, any
// device in natxy-gateway. One loop forwards both directions.
//
//   RingGateway gateway({.left_port = a, .right_port = b, .config = config});
//   gateway.start();            // in its own thread; or call gateway.step() yourself
//   ...
//   auto record = gateway.record();
//   gateway.stop();
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "gateway/clock.hpp"
#include "gateway/config.hpp"
#include "gateway/ethernet_port.hpp"
#include "gateway/frame.hpp"
#include "gateway/gateway.hpp"
#include "gateway/record.hpp"
#include "plumbing/dpdk.hpp"

namespace natxy::gateway {

struct RingGatewayOptions {
  std::uint16_t left_port = 0;  // ports that exist and are not configured yet
  std::uint16_t right_port = 0;
  Config config;
  std::size_t mtu_bytes = 1500;
};

class RingGateway {
 public:
  explicit RingGateway(const RingGatewayOptions& options);
  ~RingGateway() { stop(); }
  RingGateway(const RingGateway&) = delete;
  RingGateway& operator=(const RingGateway&) = delete;

  // Runs one turn: receives a burst from each side, sends what is due. Must not be called while the
  // loop runs.
  void step();

  void start();                         // in a new thread, registered with the EAL
  void start_on_lcore(unsigned lcore);  // on a worker of the EAL
  void stop();                          // does nothing if the loop is not running

  // These may be called from any thread; they take effect between two turns.
  void configure(const Config& config);
  void clear();
  void mute(Nanoseconds for_ns);
  // Runs the loop under SCHED_FIFO for this time, and then under the ordinary policy again, even if
  // the caller has ended; 0: ends it now. Returns false if the system refuses.
  [[nodiscard]] bool realtime(Nanoseconds for_ns);
  // Calls `use`. Returns false without a call if there is no stateful translation.
  bool with_sessions(const std::function<void(Sessions&)>& use);
  [[nodiscard]] Record record();

  [[nodiscard]] const Mac& mac(Side side) const { return ports_[index_of(side)].mac(); }

 private:
  using Order = std::function<void()>;

  void run();
  static int run_on_lcore(void* self);
  void carry_out(const Order& order);
  void obey();
  bool sleep();
  void set_tags(const Config& config);
  void receive(Side side);
  void send(Side side);
  bool take_realtime(Nanoseconds for_ns);
  void leave_realtime();
  void let_interrupts_pass(Nanoseconds now_ns);

  std::array<EthernetPort, 2> ports_;  // by Side
  Gateway gateway_;
  Nanoseconds realtime_until_ns_ = 0;                   // 0: the ordinary policy
  std::optional<plumbing::HeldInterrupts> interrupts_;  // if a port needs it
  InterruptPauses pauses_;                              // in which they pass

  std::mutex order_mutex_;  // one order at a time; the loop does not take it
  std::atomic<const Order*> order_{nullptr};
  std::exception_ptr failure_;  // exception of the last order; synchronized by order_
  std::atomic<bool> is_stopping_{false};
  std::thread thread_;
  std::optional<unsigned> lcore_;
};

}  // namespace natxy::gateway
