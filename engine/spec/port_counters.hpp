// What a port and the network interface behind it counted; differences are taken over a trial.
#pragma once

#include <cstdint>

namespace natxy::spec {

struct PortCounters {
  std::uint64_t rx_missed = 0;
  std::uint64_t rx_errors = 0;
  std::uint64_t rx_no_buffer = 0;
  std::uint64_t tx_errors = 0;
  std::uint64_t kernel_rx_dropped = 0;

  [[nodiscard]] PortCounters operator-(const PortCounters& before) const {
    return {.rx_missed = rx_missed - before.rx_missed,
            .rx_errors = rx_errors - before.rx_errors,
            .rx_no_buffer = rx_no_buffer - before.rx_no_buffer,
            .tx_errors = tx_errors - before.tx_errors,
            .kernel_rx_dropped = kernel_rx_dropped - before.kernel_rx_dropped};
  }
};

}  // namespace natxy::spec
