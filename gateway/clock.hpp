// The gateway's clock. It is the kernel's, so that it differs from the tester's clock.
#pragma once

#include <time.h>

#include "gateway/octets.hpp"

namespace natxy::gateway {

// Reads CLOCK_MONOTONIC, without a system call if the clock source is the TSC.
[[nodiscard]] inline Nanoseconds clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<Nanoseconds>(now.tv_sec) * 1'000'000'000U +
         static_cast<Nanoseconds>(now.tv_nsec);
}

}  // namespace natxy::gateway
