// CPU time and context switches of a worker's thread.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <ctime>

namespace natxy::run {

struct ThreadUsage {
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  double cpu_ns = 0;

  // Returns the usage of the calling thread since it began.
  [[nodiscard]] static ThreadUsage now() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return {.voluntary_switches = static_cast<std::uint64_t>(usage.ru_nvcsw),
            .involuntary_switches = static_cast<std::uint64_t>(usage.ru_nivcsw),
            .cpu_ns = static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec)};
  }
  [[nodiscard]] ThreadUsage since(const ThreadUsage& before) const {
    return {.voluntary_switches = voluntary_switches - before.voluntary_switches,
            .involuntary_switches = involuntary_switches - before.involuntary_switches,
            .cpu_ns = cpu_ns - before.cpu_ns};
  }
};

}  // namespace natxy::run
