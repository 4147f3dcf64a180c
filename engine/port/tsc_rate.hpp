// How fast the time stamp counter runs. DPDK rounds its own figure to 10 MHz, 0.2 % at worst, which
// every rate and delay would carry; this one is held against the kernel's raw clock for as long as
// start-up takes, to about one part in a million.
#pragma once

#include <cstdint>

namespace natxy::port {

class TscRate {
 public:
  TscRate();  // takes the first of two readings
  // Waits until the readings are far enough apart.
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
