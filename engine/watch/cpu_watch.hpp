// Watches the CPUs that a gateway on this machine runs on (docs/decisions/0018).
//
// perf's cpu-clock event is a high-resolution timer. Its interrupt samples what runs, also during a
// NAPI poll, and the kernel writes time and thread into a ring. If the host takes the CPU away, the
// interrupt is late by the same time. A watched CPU is kept awake.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "spec/trial_spec.hpp"
#include "watch/absences.hpp"
#include "watch/placement.hpp"
#include "watch/scheduling.hpp"

namespace natxy::watch {

// Returns the time of the kernel's raw monotonic clock, which the samples use.
[[nodiscard]] std::uint64_t raw_ns();

// What earlier trials have shown of a CPU.
struct KnownCpu {
  bool polls = false;           // in the last trial, the gateway never rested
  bool switches_often = false;  // records of the switches would slow the gateway down
};
using KnownCpus = std::map<int, KnownCpu>;

class CpuWatch {
 public:
  // The period of the looks. A look costs the CPU about a microsecond. The period is not a whole
  // number of microseconds, because frames often come at such intervals, and looks in step with
  // them would always find the same moment before or after a frame.
  static constexpr std::uint64_t kPeriodNs = 100'937;

  // Watches these CPUs. The calling thread stays off them while they are busy. The tester's frames
  // come from tester_cpu. known must live longer than this.
  CpuWatch(const std::vector<spec::WatchedCpu>& watched, int tester_cpu, KnownCpus& known);
  ~CpuWatch();
  CpuWatch(const CpuWatch&) = delete;
  CpuWatch& operator=(const CpuWatch&) = delete;

  // Returns why a CPU is not watched, or was not watched in a phase that has ended, in a sentence;
  // empty if all were watched.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  void begin();
  void collect();  // must be called at least every second between begin() and end()
  void end();

  struct Watched {
    int cpu = 0;
    Absences absences;
    std::uint64_t end_away_ns = 0;  // see spec::WatchResult
    Placement placement;  // of the tester's CPU and this one: the worse of begin() and end()
    std::uint64_t kept_awake_ns = 0;  // CPU time from begin() to end(), see spec::WatchResult
    GatewayThreads::Taker taker;      // since begin(), see spec::WatchResult
  };
  // Times of a phase by the raw clock, all between begin() and end().
  struct Times {
    std::uint64_t start_ns = 0;
    std::uint64_t sent_ns = 0;      // the last frame left
    std::uint64_t received_ns = 0;  // and the last one arrived
    std::uint64_t end_ns = 0;       // of the drain
  };
  // Returns the absences of each watched CPU from the start to the last frame.
  [[nodiscard]] std::vector<Watched> seen(const Times& phase) const;

 private:
  class Event;

  void keep_off();
  void measure_placements();

  int tester_cpu_;
  std::unique_ptr<KeptOff> kept_off_;
  std::vector<std::unique_ptr<Event>> events_;
  std::string refusal_;
};

}  // namespace natxy::watch
