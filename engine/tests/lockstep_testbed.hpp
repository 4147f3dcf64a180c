// The engine and the calibration gateway, connected by net_ring, in lockstep: gateway and clock
// advance when the worker of the left port has completed a turn. So counters depend only on the
// gateway's configuration, and a trial takes milliseconds.
//
// One worker runs in the caller's thread; several workers have their own threads.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "gateway/ethernet_port.hpp"
#include "gateway/gateway.hpp"
#include "gateway/json.hpp"
#include "lockstep_clock.hpp"
#include "reasons.hpp"
#include "ring_books.hpp"
#include "ring_nets.hpp"
#include "ring_wiring.hpp"
#include "spec/event.hpp"

namespace natxy::tests {

// Like gateway::RingGateway, but the caller passes the time.
class LockstepGateway {
 public:
  LockstepGateway(const RingWiring& wiring, const gateway::Config& config)
      : ports_{gateway::EthernetPort(gateway::Side::kLeft, wiring.far_end_of(gateway::Side::kLeft),
                                     RingWiring::kMtuBytes),
               gateway::EthernetPort(gateway::Side::kRight,
                                     wiring.far_end_of(gateway::Side::kRight),
                                     RingWiring::kMtuBytes)},
        gateway_(config,
                 {.macs = {ports_[0].mac(), ports_[1].mac()}, .mtu_bytes = RingWiring::kMtuBytes},
                 LockstepClock::now()) {
    set_tags(config);
  }

  void step() {
    const auto now_ns = LockstepClock::now();
    for (const auto side : gateway::kSides) {
      ports_[gateway::index_of(side)].receive(
          [&](gateway::Octets frame) { gateway_.receive(side, frame, now_ns); });
    }
    gateway_.poll(now_ns);
    for (const auto side : gateway::kSides) send(side, now_ns);
  }
  void configure(const gateway::Config& config) {
    gateway_.configure(config, LockstepClock::now());
    set_tags(config);
  }
  [[nodiscard]] gateway::Record record() { return gateway_.record(LockstepClock::now()); }
  [[nodiscard]] const gateway::Mac& mac(gateway::Side side) const {
    return ports_[gateway::index_of(side)].mac();
  }

 private:
  void set_tags(const gateway::Config& config) {
    for (const auto side : gateway::kSides) {
      ports_[gateway::index_of(side)].set_tags(config.sides[gateway::index_of(side)].vlans);
    }
  }
  void send(gateway::Side side, gateway::Nanoseconds now_ns) {
    auto& outbox = gateway_.outbox(side);
    for (std::span<const gateway::FramePtr> rest(outbox); !rest.empty();) {
      const auto burst =
          rest.first(std::min<std::size_t>(rest.size(), gateway::EthernetPort::kBurst));
      const auto taken = ports_[gateway::index_of(side)].send(burst);
      for (const auto& frame : burst.first(taken)) gateway_.sent(*frame, now_ns);
      for (const auto& frame : burst.subspan(taken)) gateway_.refused(*frame);
      rest = rest.subspan(burst.size());
    }
    outbox.clear();
  }

  std::array<gateway::EthernetPort, 2> ports_;  // by Side
  gateway::Gateway gateway_;
};

// A device whose workers run in step with the clock.
class LockstepDevice : public port::Device {
 public:
  class Service {
   public:
    Service(port::NeighbourTask& own, std::function<void()> then)
        : own_(own), then_(std::move(then)) {}
    void step(run::Ticks now) {
      own_.step(now);
      if (then_) then_();
    }

   private:
    port::NeighbourTask& own_;
    std::function<void()> then_;
  };

  // turn: called when the worker of the left port has completed a turn.
  LockstepDevice(const RingWiring& wiring, std::function<void()> turn)
      : port::Device(wiring.tester_ports(), ring_worker_cpus(wiring.options().workers),
                     run::TickRate(run::kNsPerSecond)),
        services_{Service(port::Device::service(spec::Side::kLeft), std::move(turn)),
                  Service(port::Device::service(spec::Side::kRight), {})} {}

  [[nodiscard]] Service& service(spec::Side side) {
    return services_[static_cast<std::size_t>(side)];
  }
  void launch(unsigned worker, std::function<void()> work, bool realtime) {
    if (workers() == 1) return work();
    LockstepClock::expect(worker);
    port::Device::launch(
        worker,
        [worker, work = std::move(work)] {
          const LockstepClock::Turns turns(worker);
          work();
        },
        realtime);
  }

 private:
  std::array<Service, 2> services_;  // by Side
};

class LockstepTestbed {
 public:
  explicit LockstepTestbed(const std::string& config, const TestbedOptions& options = {})
      : wiring_(options),
        device_(wiring_, [this] { turn(); }),
        gateway_(wiring_, with_neighbours(gateway::parse_config(config), device_)),
        gateway_runs_(options.start_gateway) {}
  // Buffers return to their pools before the pools are destroyed.
  ~LockstepTestbed() {
    for (unsigned i = 0; i < wiring_.flushing_turns(); ++i) {
      step_gateway();
      device_.idle();
    }
  }
  LockstepTestbed(const LockstepTestbed&) = delete;
  LockstepTestbed& operator=(const LockstepTestbed&) = delete;

  // Runs a trial that must be valid, because nothing can disturb it.
  [[nodiscard]] Observed run(const spec::TrialSpec& spec) {
    auto seen = run_once(spec);
    for (const auto& reason : seen.result.invalid_reasons) ADD_FAILURE() << "invalid: " << reason;
    return seen;
  }
  // Runs a trial with any verdict. Compiled once for all tests, because it contains the whole
  // engine.
  [[nodiscard]] Observed run_once(const spec::TrialSpec& spec);

  void configure(const std::string& config) {
    gateway_.configure(with_neighbours(gateway::parse_config(config), device_));
  }
  // Makes the gateway do nothing for this time.
  void start_gateway_in(run::Ticks ns) { gateway_wakes_ = LockstepClock::now() + ns; }
  [[nodiscard]] LockstepGateway& gateway() { return gateway_; }
  [[nodiscard]] LockstepDevice& device() { return device_; }
  [[nodiscard]] const RingWiring& wiring() const { return wiring_; }

 private:
  void step_gateway() {
    gateway_.step();
    wiring_.distribute();
  }
  // At 30,000 fps less than a frame, or with several workers, of whom each has to be waited for, a
  // few of them.
  [[nodiscard]] run::Ticks step_ns() const { return device_.workers() == 1 ? 30'000 : 1'000'000; }
  void turn() {
    if (LockstepClock::now() >= gateway_wakes_) gateway_runs_ = true;
    if (gateway_runs_) step_gateway();
    LockstepClock::advance(step_ns());
  }

  RingWiring wiring_;
  LockstepDevice device_;
  LockstepGateway gateway_;
  bool gateway_runs_;
  run::Ticks gateway_wakes_ = run::kNever;
};

}  // namespace natxy::tests
