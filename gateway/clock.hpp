// The gateway's clock. It is the kernel's, so that it differs from the tester's clock. No time
// service slews it, so that times of the record can be compared with those of the tester's watch.
#pragma once

#include <time.h>

#include "gateway/octets.hpp"

namespace natxy::gateway {

// Reads CLOCK_MONOTONIC_RAW, without a system call if the clock source is the TSC.
[[nodiscard]] inline Nanoseconds clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<Nanoseconds>(now.tv_sec) * 1'000'000'000U +
         static_cast<Nanoseconds>(now.tv_nsec);
}

}  // namespace natxy::gateway
