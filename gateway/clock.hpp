// The gateway's clock: the kernel's, so that it is another one than the tester's.
#pragma once

#include <time.h>

#include "gateway/octets.hpp"

namespace natxy::gateway {

// CLOCK_MONOTONIC, read without a system call where the clock source is the TSC.
[[nodiscard]] inline Nanoseconds clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<Nanoseconds>(now.tv_sec) * 1'000'000'000U +
         static_cast<Nanoseconds>(now.tv_nsec);
}

}  // namespace natxy::gateway
