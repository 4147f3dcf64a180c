// The worker cores: each runs what it is given, to its end.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

namespace natxy::port {

class Workers {
 public:
  // EAL's worker lcores, in the order of the CPUs that Eal was given.
  explicit Workers(const std::vector<int>& cpus);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(slots_.size()); }
  [[nodiscard]] int cpu(unsigned worker) const { return slots_[worker]->cpu; }

  // realtime: under SCHED_FIFO for as long as the work takes. Throws TrialError (device) where this
  // process may not, before anything has started.
  void launch(unsigned worker, std::function<void()> work, bool realtime);
  [[nodiscard]] bool running() const { return active_.load() > 0; }
  // Waits for all; throws again what a worker threw.
  void join();

 private:
  struct Slot {
    int cpu = 0;
    unsigned lcore = 0;
    bool realtime = false;
    std::function<void()> work;
    std::exception_ptr thrown;
    std::atomic<int>* active = nullptr;
  };
  static int run(void* slot);

  std::vector<std::unique_ptr<Slot>> slots_;
  std::atomic<int> active_{0};
};

}  // namespace natxy::port
