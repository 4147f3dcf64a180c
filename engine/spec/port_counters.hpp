// What a port, its clock and the network interface behind it tell of a trial.
#pragma once

#include <cstdint>

namespace natxy::spec {

// Differences are taken over a trial.
struct PortCounters {
  std::uint64_t rx_missed = 0;
  std::uint64_t rx_errors = 0;
  std::uint64_t rx_no_buffer = 0;
  std::uint64_t tx_errors = 0;
  std::uint64_t kernel_rx_dropped = 0;
  std::uint64_t link_downs = 0;  // how often the link went down

  [[nodiscard]] PortCounters operator-(const PortCounters& before) const {
    return {.rx_missed = rx_missed - before.rx_missed,
            .rx_errors = rx_errors - before.rx_errors,
            .rx_no_buffer = rx_no_buffer - before.rx_no_buffer,
            .tx_errors = tx_errors - before.tx_errors,
            .kernel_rx_dropped = kernel_rx_dropped - before.kernel_rx_dropped,
            .link_downs = link_downs - before.link_downs};
  }
};

// By which clock arrivals are timed, and how well.
struct ArrivalClock {
  bool own = false;               // the port stamps frames itself; else they come when it is polled
  double error_ns = 0;            // at most, of its clock against the processor's
  std::uint64_t unstamped = 0;    // frames without a stamp
  std::uint64_t implausible = 0;  // frames with a stamp that cannot be

  [[nodiscard]] ArrivalClock operator-(const ArrivalClock& before) const {
    return {.own = own,
            .error_ns = error_ns,
            .unstamped = unstamped - before.unstamped,
            .implausible = implausible - before.implausible};
  }
};

// As good as a delay must be.
inline constexpr std::uint64_t kClockErrorLimitNs = 20'000;

}  // namespace natxy::spec
