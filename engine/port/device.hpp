// The tester's hardware as engine/run sees it: two ports and the workers. A trial calls, in this
// order:
//
//   resolve(spec, told, cancelled)      link, neighbours; then link(side, version) has both MACs
//   tx_queue(side, i).fill(kind, octets)
//   counters(side), arrival_clock(side) before and after
//   launch(worker, work, realtime)...   running(), join()
//
// While workers run, queues and services belong to them: each transmit queue of a port to one
// worker, each receive queue to one worker, and service(side) to the worker that has the side's
// transmit queue 0. Only the main thread makes all other calls.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "frame/departure.hpp"
#include "plumbing/dpdk.hpp"
#include "port/machine.hpp"
#include "port/neighbour_task.hpp"
#include "port/port.hpp"
#include "port/workers.hpp"
#include "run/clock.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::port {

// How long to wait for a link: a NIC's negotiation takes three or four seconds.
inline constexpr std::chrono::milliseconds kLinkPatience{10'000};

struct DeviceOptions {
  std::array<DeviceString, 2> devices;  // by Side
  std::vector<int> worker_cpus;         // the same as in EalOptions
  std::uint16_t mtu_bytes = 1500;
  std::optional<unsigned> tx_queues;
  unsigned rx_queues = 1;  // of each port
  bool own_clocks = true;  // use the clocks of ports that time-stamp arrivals
};

class Device {
 public:
  using TxQueue = port::TxQueue;
  using RxQueue = port::RxQueue;
  using Service = NeighbourTask;

  // Opens both ports, and only then asks for the rate, which is known 0.2 s after the program's
  // start. EAL must have been started. Throws TrialError (device).
  Device(const DeviceOptions& options, const TscRate& rate);
  // Uses ports that a test or a benchmark has made, left and right.
  Device(std::array<std::unique_ptr<Port>, 2> ports, const std::vector<int>& worker_cpus,
         run::TickRate ticks);

  [[nodiscard]] run::TickRate ticks() const { return ticks_; }
  [[nodiscard]] unsigned workers() const { return workers_.count(); }
  [[nodiscard]] int worker_cpu(unsigned worker) const { return workers_.cpu(worker); }
  [[nodiscard]] unsigned tx_queues(spec::Side side) const { return port(side).tx_queues(); }
  [[nodiscard]] TxQueue& tx_queue(spec::Side side, unsigned index) {
    return port(side).tx_queue(index);
  }
  // Returns the number of receive queues of each port.
  [[nodiscard]] unsigned rx_queues() const { return port(spec::Side::kLeft).rx_queues(); }
  [[nodiscard]] RxQueue& rx_queue(spec::Side side, unsigned index = 0) {
    return port(side).rx_queue(index);
  }
  [[nodiscard]] Service& service(spec::Side side) { return side_of(side).service; }
  [[nodiscard]] spec::PortCounters counters(spec::Side side) { return port(side).counters(); }
  // Returns the state of a port's clock; its error is the largest since the last call.
  [[nodiscard]] spec::ArrivalClock arrival_clock(spec::Side side);
  [[nodiscard]] unsigned rx_ring_frames(spec::Side side) const {
    return port(side).rx_ring_frames();
  }
  [[nodiscard]] bool link_up(spec::Side side) const { return port(side).link_up(); }
  // Called about every 10 ms while a trial runs.
  void watch_links() {
    for (const auto& side : sides_) side->port->watch_link();
  }
  // Waits until the links of ports that have a speed are up: before, a NIC does not know its speed.
  // A link that stays down is an error only of the first trial.
  void await_speeds(std::chrono::milliseconds patience = kLinkPatience) const;
  [[nodiscard]] spec::PortInfo info(spec::Side side) const;

  // Returns the MAC addresses of the port and of the next hop, zeros if the last trial resolved
  // none, and the VLAN tags of that trial.
  [[nodiscard]] frame::Link link(spec::Side side, spec::IpVersion version) const;

  // Waits for the links, then resolves each next hop from each own address, within the warm-up's
  // time limit. Questions that were answered in an earlier trial are not asked again. Calls `told`
  // between attempts. Throws TrialError: device, neighbour, or spec if a frame exceeds the MTU.
  void resolve(const spec::TrialSpec& spec, const std::function<void()>& progress,
               const std::atomic<bool>& cancelled);
  // Forgets all answers, so that the next trial asks again: after an error, the gateway may be
  // another one.
  void forget();
  // Called regularly between trials: answers the gateway's questions and drops other frames.
  void idle();

  void launch(unsigned worker, std::function<void()> work, bool realtime) {
    workers_.launch(worker, std::move(work), realtime);
  }
  [[nodiscard]] bool running() const { return workers_.running(); }
  void join();

 private:
  struct SideState {
    explicit SideState(std::unique_ptr<Port> own) : port(std::move(own)), service(*port) {}
    std::unique_ptr<Port> port;
    std::optional<PortClock> clock;  // the clock of its time stamps
    NeighbourTask service;
    std::vector<NeighbourQuestion> answered;  // the questions that `macs` answers
    NextHopMacs macs;
    std::vector<spec::VlanTag> vlans;
  };
  struct Watch {
    const std::function<void()>& progress;
    const std::atomic<bool>& cancelled;
  };

  [[nodiscard]] SideState& side_of(spec::Side side) { return *sides_[static_cast<unsigned>(side)]; }
  [[nodiscard]] const SideState& side_of(spec::Side side) const {
    return *sides_[static_cast<unsigned>(side)];
  }
  [[nodiscard]] Port& port(spec::Side side) { return *side_of(side).port; }
  [[nodiscard]] const Port& port(spec::Side side) const { return *side_of(side).port; }
  void time_by_own_clocks();
  void leave_useless_clocks();
  void hold_interrupts();
  void set_vlans(spec::Side side, const std::vector<spec::VlanTag>& vlans);
  void check_frame_sizes(const spec::TrialSpec& spec) const;
  void check_frame_sizes(const spec::Traffic& traffic, spec::Direction direction,
                         const std::string& member) const;
  void await_link(spec::Side side, const Watch& watch);
  void resolve_side(spec::Side side, const spec::TrialSpec& spec,
                    std::vector<NeighbourQuestion> questions, const Watch& watch);
  void ask(spec::Side side, Resolution& resolution, std::chrono::nanoseconds patience,
           const Watch& watch);
  void send_all(spec::Side side, const std::vector<NeighbourFrame>& frames);

  // By receiving side and queue; used by the pseudo device `ring` only.
  std::array<std::vector<Ring>, 2> loop_;
  std::array<std::unique_ptr<SideState>, 2> sides_;
  std::optional<plumbing::HeldInterrupts> interrupts_;  // if a port needs it
  Workers workers_;
  run::TickRate ticks_;
};

}  // namespace natxy::port
