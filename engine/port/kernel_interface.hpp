// The kernel's network interface behind a port. Frames that it drops are lost by the tester, and
// DPDK does not count them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace natxy::port {

struct InterfaceCounters {  // counters of 32 bits, which wrap around: use differences only
  std::uint32_t rx_dropped = 0;
  std::uint32_t rx_errors = 0;
};

// Return properties of an interface in the network namespace of this process; absent if there is no
// such interface.
[[nodiscard]] std::optional<InterfaceCounters> interface_counters(const std::string& name);
[[nodiscard]] std::optional<unsigned> interface_mtu_bytes(const std::string& name);

}  // namespace natxy::port
