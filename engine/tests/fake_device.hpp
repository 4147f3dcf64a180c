// A fake device without DPDK: two ports in memory, connected to each other or through a gateway of
// the test, and threads as workers.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "fake_port.hpp"
#include "frame/departure.hpp"
#include "run/clock.hpp"
#include "spec/port_result.hpp"
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

  // queues: transmit queues of each port; rx_queues: its receive queues.
  explicit FakeDevice(unsigned workers, unsigned queues = 1, unsigned rx_queues = 1)
      : workers_(workers) {
    for (std::size_t side = 0; side < 2; ++side) {
      rx_[side].emplace_back(wires[side]);
      for (unsigned i = 1; i < rx_queues; ++i) {
        wires[side].further.push_back(&further_.emplace_back());
        rx_[side].emplace_back(further_.back());
      }
    }
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
  [[nodiscard]] unsigned rx_queues() const { return static_cast<unsigned>(rx_[0].size()); }
  FakeRxQueue& rx_queue(spec::Side side, unsigned index = 0) { return rx_[at(side)][index]; }
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
  std::deque<Wire> further_;  // to the receive queues that are not the first of their port
  std::array<std::deque<FakeRxQueue>, 2> rx_;
  std::array<Service, 2> services_;
  std::vector<std::thread> threads_;
  std::atomic<int> active_{0};
  std::array<bool, 2> watched_up_{true, true};
};

}  // namespace natxy::tests
