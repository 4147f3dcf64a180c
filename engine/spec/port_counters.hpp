// Counters of a port, of its clock and of the network interface behind it.
#pragma once

#include <cstdint>

namespace natxy::spec {

// Counters since the port was opened; a result has their differences over the trial.
struct PortCounters {
  std::uint64_t rx_missed = 0;
  std::uint64_t rx_errors = 0;
  std::uint64_t rx_no_buffer = 0;
  std::uint64_t tx_errors = 0;
  std::uint64_t kernel_rx_dropped = 0;  // drops of the network interface behind the port
  std::uint64_t link_downs = 0;         // how often the link went down

  [[nodiscard]] PortCounters operator-(const PortCounters& before) const {
    return {.rx_missed = rx_missed - before.rx_missed,
            .rx_errors = rx_errors - before.rx_errors,
            .rx_no_buffer = rx_no_buffer - before.rx_no_buffer,
            .tx_errors = tx_errors - before.tx_errors,
            .kernel_rx_dropped = kernel_rx_dropped - before.kernel_rx_dropped,
            .link_downs = link_downs - before.link_downs};
  }
};

// The clock that times arrivals, and its quality.
struct ArrivalClock {
  bool own = false;     // true: the port time-stamps frames; false: the time of the poll counts
  double error_ns = 0;  // upper bound of the error of the port's clock against the processor's
  std::uint64_t unstamped = 0;    // frames without a time stamp
  std::uint64_t implausible = 0;  // frames with an impossible time stamp

  [[nodiscard]] ArrivalClock operator-(const ArrivalClock& before) const {
    return {.own = own,
            .error_ns = error_ns,
            .unstamped = unstamped - before.unstamped,
            .implausible = implausible - before.implausible};
  }
};

// The largest error of a port's clock in a valid trial.
inline constexpr std::uint64_t kClockErrorLimitNs = 20'000;

}  // namespace natxy::spec
