// perf's events of a CPU: a look at what runs there, now and then, and a record of each switch.
#pragma once

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>

namespace natxy::watch {

inline perf_event_attr attributes(perf_sw_ids event) {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_SOFTWARE;
  wanted.config = event;
  wanted.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  wanted.use_clockid = 1;
  wanted.clockid = CLOCK_MONOTONIC_RAW;
  wanted.disabled = 1;
  wanted.watermark = 1;
  wanted.wakeup_watermark = 1U << 30U;  // no thread waits for the event
  return wanted;
}

inline perf_event_attr looks_wanted(std::uint64_t period_ns) {
  auto wanted = attributes(PERF_COUNT_SW_CPU_CLOCK);
  wanted.sample_period = period_ns;
  return wanted;
}

inline perf_event_attr switches_wanted() {
  auto wanted = attributes(PERF_COUNT_SW_DUMMY);
  wanted.context_switch = 1;
  wanted.sample_id_all = 1;
  return wanted;
}

inline int open_event(perf_event_attr wanted, int cpu) {
  return static_cast<int>(syscall(SYS_perf_event_open, &wanted, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

struct SampleRecord {  // layout of the sample_type above
  std::uint32_t process;
  std::uint32_t thread;
  std::uint64_t at_ns;
};

struct SwitchRecord {  // PERF_RECORD_SWITCH_CPU_WIDE with the sample_type above
  std::uint32_t other_process;
  std::uint32_t other_thread;
  SampleRecord sample;
};

}  // namespace natxy::watch
