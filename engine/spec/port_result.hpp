// Counters of a port, of its clock and of the network interface behind it, and the ICMP errors that
// arrived at it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/trial_spec.hpp"

namespace natxy::spec {

// Equal ICMP errors that arrived at a port: their count and one example.
struct IcmpErrorCount {
  IpVersion ip_version = IpVersion::k4;
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  std::uint32_t mtu = 0;  // 0 (JSON: null) if the error names no MTU
  std::string source;     // the sender's address
  std::uint64_t count = 0;
  std::string example_hex;
};

struct IcmpErrors {
  std::vector<IcmpErrorCount> listed;  // errors about frames of the trial
  std::uint64_t unlisted = 0;          // further ones, beyond the number of sorts that are listed
  std::uint64_t of_others = 0;         // errors that quote no frame that this port sends
};

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

struct PortResult {
  Side side = Side::kLeft;
  std::uint64_t foreign = 0;    // frames that are not of this trial
  std::uint64_t neighbour = 0;  // ARP and Neighbour Discovery, answered or not
  // By receive queue: the received frames of all streams; see KindCounters.
  std::vector<std::uint64_t> queue_received;
  PortCounters counters;           // as they grew during the trial
  std::uint64_t records_lost = 0;  // frame records for which the buffer had no room
  double worst_poll_gap_ns = 0;
  ArrivalClock clock;
  IcmpErrors icmp;  // a part of foreign
};

}  // namespace natxy::spec
