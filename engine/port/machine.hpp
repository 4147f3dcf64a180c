// The machine: its processor and kernel, which a result records, and the rate of its time stamp
// counter.
#pragma once

#include <cstdint>
#include <string>

namespace natxy::port {

[[nodiscard]] std::string cpu_model(const std::string& cpuinfo = "/proc/cpuinfo");
// Returns whether the time stamp counter runs at one rate in every state of the processor.
[[nodiscard]] bool tsc_invariant(const std::string& cpuinfo = "/proc/cpuinfo");
[[nodiscard]] std::string kernel();

// Measures the rate of the time stamp counter. DPDK rounds its own figure to 10 MHz, which is wrong
// by up to 0.2 %, and so would each rate and delay be. This one is measured against the kernel's
// raw clock during start-up, to about one part in a million.
class TscRate {
 public:
  TscRate();  // takes the first of two readings
  // Takes the second reading, as soon as it is far enough from the first. Returns the rate.
  [[nodiscard]] std::uint64_t hz() const;

 private:
  struct Reading {
    std::uint64_t ticks;
    std::uint64_t ns;
  };
  static Reading read();

  Reading first_;
};

}  // namespace natxy::port
