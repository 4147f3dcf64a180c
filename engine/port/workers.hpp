// The worker cores. Each runs the work that it is given to its end.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

namespace natxy::port {

// Returns 0 if this process may run under SCHED_FIFO, else the errno that says why not. The calling
// thread uses the policy for a moment.
[[nodiscard]] int realtime_status();

class Workers {
 public:
  // cpus: the same as in EalOptions, in the order of EAL's worker lcores.
  explicit Workers(const std::vector<int>& cpus);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(slots_.size()); }
  [[nodiscard]] int cpu(unsigned worker) const { return slots_[worker]->cpu; }

  // Starts work on a worker. realtime: run it under SCHED_FIFO. Throws TrialError (device) before
  // the start if this process may not use SCHED_FIFO.
  void launch(unsigned worker, std::function<void()> work, bool realtime);
  [[nodiscard]] bool running() const { return active_.load() > 0; }
  // Waits for all workers. Rethrows an exception of a worker.
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
