// A fake device without DPDK: two ports in memory, connected to each other or through a gateway of
// the test, and threads as workers.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "fake_port.hpp"
#include "frame/departure.hpp"
#include "run/clock.hpp"
#include "spec/port_counters.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::tests {

struct SteadyClock {
  static run::Ticks now() {
    return static_cast<run::Ticks>(std::chrono::steady_clock::now().time_since_epoch().count());
  }
};

class FakeDevice {
 public:
  using TxQueue = FakeTxQueue;
  using RxQueue = FakeRxQueue;
  struct Service {
    std::atomic<unsigned> steps{0};
    void step(run::Ticks) { ++steps; }
  };

  explicit FakeDevice(unsigned workers, unsigned queues = 1) : workers_(workers) {
    for (unsigned i = 0; i < queues; ++i) {
      tx_[0].push_back(std::make_unique<FakeTxQueue>(wires[1]));  // left sends to the right
      tx_[1].push_back(std::make_unique<FakeTxQueue>(wires[0]));
    }
  }
  ~FakeDevice() { join(); }

  [[nodiscard]] run::TickRate ticks() const { return run::TickRate(1'000'000'000); }
  [[nodiscard]] unsigned workers() const { return workers_; }
  [[nodiscard]] int worker_cpu(unsigned worker) const { return static_cast<int>(worker); }
  [[nodiscard]] unsigned tx_queues(spec::Side side) const {
    return static_cast<unsigned>(tx_[at(side)].size());
  }
  FakeTxQueue& tx_queue(spec::Side side, unsigned index) { return *tx_[at(side)][index]; }
  FakeRxQueue& rx_queue(spec::Side side) { return rx_[at(side)]; }
  Service& service(spec::Side side) { return services_[at(side)]; }
  [[nodiscard]] frame::Link link(spec::Side, spec::IpVersion) const { return {}; }
  [[nodiscard]] spec::PortCounters counters(spec::Side side) const { return counts[at(side)]; }
  [[nodiscard]] spec::ArrivalClock arrival_clock(spec::Side side) const { return clocks[at(side)]; }
  [[nodiscard]] unsigned rx_ring_frames(spec::Side) const { return ring_frames; }
  [[nodiscard]] bool link_up(spec::Side side) const { return links_up[at(side)]; }
  void watch_links() {
    for (std::size_t side = 0; side < 2; ++side) {
      const bool up = links_up[side];
      if (watched_up_[side] && !up) ++counts[side].link_downs;
      watched_up_[side] = up;
    }
  }
  template <class Told>
  void resolve(const spec::TrialSpec&, const Told&, const std::atomic<bool>&) {
    ++resolved;
  }

  void launch(unsigned, std::function<void()> work, bool) {
    ++active_;
    threads_.emplace_back([this, work = std::move(work)] {
      work();
      --active_;
    });
  }
  [[nodiscard]] bool running() const { return active_ > 0; }
  void join() {
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

  std::array<Wire, 2> wires;  // by the side where they end
  std::array<spec::PortCounters, 2> counts{};
  std::array<spec::ArrivalClock, 2> clocks{};
  unsigned ring_frames = 1'000'000;
  std::array<std::atomic<bool>, 2> links_up{true, true};
  int resolved = 0;

 private:
  static std::size_t at(spec::Side side) { return static_cast<std::size_t>(side); }
  unsigned workers_;
  std::array<std::vector<std::unique_ptr<FakeTxQueue>>, 2> tx_;
  std::array<FakeRxQueue, 2> rx_{FakeRxQueue(wires[0]), FakeRxQueue(wires[1])};
  std::array<Service, 2> services_;
  std::vector<std::thread> threads_;
  std::atomic<int> active_{0};
  std::array<bool, 2> watched_up_{true, true};
};

}  // namespace natxy::tests
