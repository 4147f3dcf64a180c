// How often the link of the kernel's network interface behind a port has gone down.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace natxy::port {

// Since the interface was made, in this process's network namespace; absent: there is no such
// interface, or its kernel does not tell.
[[nodiscard]] std::optional<std::uint32_t> link_downs(const std::string& name);

// How often a link has gone down since the first answer: what the kernel counted where it answered
// both times, and what looking at the link has seen where it did not.
class LinkFalls {
 public:
  // kernel: see link_downs(); seen: falls that somebody saw, in all. Never less than before.
  [[nodiscard]] std::uint64_t total(std::optional<std::uint32_t> kernel, std::uint64_t seen) {
    if (kernel && kernel_) {
      total_ += *kernel < *kernel_ ? *kernel : *kernel - *kernel_;  // less: it was made anew
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
