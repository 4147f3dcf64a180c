// The tester's hardware as the run loops see it: two ports and the workers. What a trial uses, in
// this order:
//
//   resolve(spec, told, cancelled)      link, neighbours; then link(side, version) has both MACs
//   tx_queue(side, i).fill(kind, octets)
//   counters(side), arrival_clock(side) before and after
//   launch(worker, work, realtime)...   running(), join()
//
// While workers run, queues and services belong to them: transmit queue i of a port to one worker,
// its receive queue to one, service(side) to the worker that has the side's transmit queue 0. All
// other calls are the main thread's.
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
#include "port/neighbour_task.hpp"
#include "port/port.hpp"
#include "port/workers.hpp"
#include "run/clock.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::port {

struct DeviceOptions {
  std::array<DeviceString, 2> devices;  // by Side
  std::vector<int> worker_cpus;         // as Eal was given them
  std::uint16_t mtu_bytes = 1500;
  std::optional<unsigned> tx_queues;
  bool own_clocks = true;  // of ports that stamp what arrives
};

class Device {
 public:
  using TxQueue = port::TxQueue;
  using RxQueue = port::RxQueue;
  using Service = NeighbourTask;

  // Opens both ports. EAL must be up. Throws TrialError (device).
  Device(const DeviceOptions& options, run::TickRate ticks);
  // Over ports that a test or benchmark made; their sides are left, right.
  Device(std::array<std::unique_ptr<Port>, 2> ports, const std::vector<int>& worker_cpus,
         run::TickRate ticks);

  [[nodiscard]] run::TickRate ticks() const { return ticks_; }
  [[nodiscard]] unsigned workers() const { return workers_.count(); }
  [[nodiscard]] int worker_cpu(unsigned worker) const { return workers_.cpu(worker); }
  [[nodiscard]] unsigned tx_queues(spec::Side side) const { return port(side).tx_queues(); }
  [[nodiscard]] TxQueue& tx_queue(spec::Side side, unsigned index) {
    return port(side).tx_queue(index);
  }
  [[nodiscard]] RxQueue& rx_queue(spec::Side side) { return port(side).rx_queue(); }
  [[nodiscard]] Service& service(spec::Side side) { return side_of(side).service; }
  [[nodiscard]] spec::PortCounters counters(spec::Side side) { return port(side).counters(); }
  // Its error is since this was asked last.
  [[nodiscard]] spec::ArrivalClock arrival_clock(spec::Side side);
  [[nodiscard]] unsigned rx_ring_frames(spec::Side side) const {
    return port(side).rx_ring_frames();
  }
  [[nodiscard]] bool link_up(spec::Side side) const { return port(side).link_up(); }
  // Called every 10 ms or so while a trial runs.
  void watch_links() {
    for (const auto& side : sides_) side->port->watch_link();
  }
  [[nodiscard]] spec::PortInfo info(spec::Side side) const;

  // Own MAC and next hop's; zeros where the last trial resolved none.
  [[nodiscard]] frame::Link link(spec::Side side, spec::IpVersion version) const;

  // Waits for the links, then asks for every next hop from every own address, for at most the
  // warm-up's time limit; what has been answered for the same addresses is not asked again. Calls
  // told between attempts. Throws TrialError: device, neighbour, or spec for a frame beyond the
  // MTU.
  void resolve(const spec::TrialSpec& spec, const std::function<void()>& told,
               const std::atomic<bool>& cancelled);
  // The next trial asks again: after one that failed, the gateway may be another.
  void forget();
  // Between trials, now and then: answers the gateway's questions, drops what else came.
  void idle();

  void launch(unsigned worker, std::function<void()> work, bool realtime) {
    workers_.launch(worker, std::move(work), realtime);
  }
  [[nodiscard]] bool running() const { return workers_.running(); }
  void join() { workers_.join(); }

 private:
  struct SideState {
    explicit SideState(std::unique_ptr<Port> own) : port(std::move(own)), service(*port) {}
    std::unique_ptr<Port> port;
    std::optional<PortClock> clock;  // by which it stamps what arrives
    NeighbourTask service;
    std::vector<NeighbourQuestion> answered;  // the questions that macs are the answers to
    NextHopMacs macs;
  };
  struct Watch {
    const std::function<void()>& told;
    const std::atomic<bool>& cancelled;
  };

  [[nodiscard]] SideState& side_of(spec::Side side) { return *sides_[static_cast<unsigned>(side)]; }
  [[nodiscard]] const SideState& side_of(spec::Side side) const {
    return *sides_[static_cast<unsigned>(side)];
  }
  [[nodiscard]] Port& port(spec::Side side) { return *side_of(side).port; }
  [[nodiscard]] const Port& port(spec::Side side) const { return *side_of(side).port; }
  void time_by_own_clocks();
  void check_frame_sizes(const spec::TrialSpec& spec) const;
  void await_link(spec::Side side, const Watch& watch);
  void resolve_side(spec::Side side, const spec::TrialSpec& spec,
                    std::vector<NeighbourQuestion> questions, const Watch& watch);
  void ask(spec::Side side, Resolution& resolution, std::chrono::nanoseconds patience,
           const Watch& watch);
  void send_all(spec::Side side, const std::vector<NeighbourFrame>& frames);

  std::array<Ring, 2> loop_;  // by the side that receives; only of the pseudo device `ring`
  std::array<std::unique_ptr<SideState>, 2> sides_;
  Workers workers_;
  run::TickRate ticks_;
};

}  // namespace natxy::port
