// Watches the CPUs that a gateway on this machine runs on (docs/decisions/0018).
//
// perf's cpu-clock event is a high-resolution timer: its interrupt looks at what runs, whatever
// that is doing, a NAPI poll too, and the kernel writes time and thread into a ring. Where the host
// has taken the CPU away, the interrupt is late by as much. While it watches, the CPU does not
// sleep.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "spec/trial_spec.hpp"
#include "watch/absences.hpp"

namespace natxy::watch {

// The kernel's raw monotonic clock, which samples are stamped with.
[[nodiscard]] std::uint64_t raw_ns();

class CpuWatch {
 public:
  // A look costs the CPU about a microsecond. Frames come every so many whole microseconds: looks
  // that do so as well would find each time what goes on just before a frame, or just after.
  static constexpr std::uint64_t kPeriodNs = 100'937;

  // The calling thread stays off these CPUs while they are busy.
  explicit CpuWatch(const std::vector<spec::WatchedCpu>& watched);
  ~CpuWatch();
  CpuWatch(const CpuWatch&) = delete;
  CpuWatch& operator=(const CpuWatch&) = delete;

  // Why a CPU is not watched, or was not in a phase that has ended, in a sentence; empty: all are.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  void begin();
  void collect();  // at least every second between begin and end
  void end();

  struct Watched {
    int cpu = 0;
    Absences absences;
  };
  // Between two times of the raw clock, from begin to end: of each CPU that was watched.
  [[nodiscard]] std::vector<Watched> seen(std::uint64_t from_ns, std::uint64_t until_ns) const;

 private:
  class KeptOff;
  class Event;
  std::unique_ptr<KeptOff> kept_off_;
  std::vector<std::unique_ptr<Event>> events_;
  std::string refusal_;
};

}  // namespace natxy::watch
