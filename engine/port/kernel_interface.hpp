// The kernel's network interface behind a port: its drops are the tester's, and DPDK does not count
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace natxy::port {

struct InterfaceCounters {  // of 32 bits: only differences mean something
  std::uint32_t rx_dropped = 0;
  std::uint32_t rx_errors = 0;
};

// In this process's network namespace; absent: there is no such interface.
[[nodiscard]] std::optional<InterfaceCounters> interface_counters(const std::string& name);
[[nodiscard]] std::optional<unsigned> interface_mtu_bytes(const std::string& name);

}  // namespace natxy::port
