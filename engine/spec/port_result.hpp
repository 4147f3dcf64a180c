// Counters of a port, of its clock and of the network interface behind it, and the ICMP errors that
// arrived at it.
//
// The members are explained in natxy/model/port_result.py, from which
// docs/reference/engine-members.md is made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/members.hpp"
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

  NATXY_MEMBERS(type, code, source, count)
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
  std::uint64_t kernel_rx_dropped = 0;
  std::uint64_t link_downs = 0;

  NATXY_MEMBERS(rx_missed, rx_errors, rx_no_buffer, tx_errors, kernel_rx_dropped, link_downs)

  [[nodiscard]] PortCounters operator-(const PortCounters& before) const {
    return difference(*this, before);
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

  NATXY_MEMBERS(side, foreign, neighbour, queue_received, records_lost, worst_poll_gap_ns)
};

}  // namespace natxy::spec
