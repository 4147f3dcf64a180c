// The kernel's network interface behind a port. Frames that it drops are lost by the tester, and
// DPDK does not count them. How often its link goes down is counted, too.
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

// Returns how often the link of an interface in the network namespace of this process has gone down
// since the interface was created; absent if there is no such interface, or if the kernel does not
// report it.
[[nodiscard]] std::optional<std::uint32_t> link_downs(const std::string& name);

// Counts how often a link has gone down since the first call. Uses the kernel's count if the kernel
// reported one in two successive calls, else the number of times that the engine saw the link go
// down.
class LinkFalls {
 public:
  // Returns the total, which never decreases. kernel: the result of link_downs(); seen: how often
  // the engine has seen the link go down, in total.
  [[nodiscard]] std::uint64_t total(std::optional<std::uint32_t> kernel, std::uint64_t seen) {
    if (kernel && kernel_) {
      total_ += *kernel < *kernel_ ? *kernel : *kernel - *kernel_;  // lower: a new interface
    } else {
      total_ += seen - seen_;
    }
    kernel_ = kernel;
    seen_ = seen;
    return total_;
  }

 private:
  std::optional<std::uint32_t> kernel_;
  std::uint64_t seen_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace natxy::port
