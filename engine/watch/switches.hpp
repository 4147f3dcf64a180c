// Tells what a CPU does between the scheduler's records of its switches; and perf's events, with
// which these and the looks at the CPU are recorded.
#pragma once

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "watch/absences.hpp"

namespace natxy::watch {

inline perf_event_attr attributes(perf_sw_ids kind) {
  perf_event_attr event{};
  event.size = sizeof event;
  event.type = PERF_TYPE_SOFTWARE;
  event.config = kind;
  event.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  event.use_clockid = 1;
  event.clockid = CLOCK_MONOTONIC_RAW;
  event.disabled = 1;
  event.watermark = 1;
  event.wakeup_watermark = 1U << 30U;  // no thread waits for the event
  return event;
}

inline perf_event_attr looks_wanted(std::uint64_t period_ns) {
  auto event = attributes(PERF_COUNT_SW_CPU_CLOCK);
  event.sample_period = period_ns;
  return event;
}

inline perf_event_attr switches_wanted() {
  auto event = attributes(PERF_COUNT_SW_DUMMY);
  event.context_switch = 1;
  event.sample_id_all = 1;
  return event;
}

// A record of perf: the head is always there, the rest in looks and switches.
struct Record {
  std::uint32_t type = 0;
  std::uint32_t misc = 0;
  std::uint64_t at_ns = 0;
  std::int32_t thread = 0;  // that runs, or that leaves the CPU
  std::int32_t next = 0;    // of a switch: the thread that comes
};

// One of perf's events on a CPU, and the ring into which the kernel writes its records.
class PerfRing {
 public:
  // Throws std::system_error.
  PerfRing(perf_event_attr event, int cpu)
      : descriptor_(static_cast<int>(
            syscall(SYS_perf_event_open, &event, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC))) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category());
    ring_ = mmap(nullptr, size(), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (ring_ != MAP_FAILED) return;
    const auto error = errno;
    close(descriptor_);
    throw std::system_error(error, std::generic_category());
  }
  ~PerfRing() {
    munmap(ring_, size());
    close(descriptor_);
  }
  PerfRing(const PerfRing&) = delete;
  PerfRing& operator=(const PerfRing&) = delete;

  void enable() { ioctl(descriptor_, PERF_EVENT_IOC_ENABLE, 0); }
  void disable() { ioctl(descriptor_, PERF_EVENT_IOC_DISABLE, 0); }

  // Appends the records in the ring to `records`, and frees them. Returns whether the ring was
  // full: then the kernel has left out what followed.
  bool take(std::vector<Record>& records) {
    auto* page = static_cast<perf_event_mmap_page*>(ring_);
    const auto head = std::atomic_ref(page->data_head).load(std::memory_order_acquire);
    auto tail = page->data_tail;
    const bool full = head - tail + kLargest > capacity();
    while (tail < head) {
      const auto header = read<perf_event_header>(tail);
      records.push_back(record(header, tail + sizeof header));
      tail += header.size;
    }
    std::atomic_ref(page->data_tail).store(tail, std::memory_order_release);
    return full;
  }

 private:
  struct Sample {  // layout of the sample_type above
    std::uint32_t process;
    std::int32_t thread;
    std::uint64_t at_ns;
  };
  struct Switched {  // PERF_RECORD_SWITCH_CPU_WIDE with this sample_type
    std::uint32_t other_process;
    std::int32_t other_thread;
    Sample sample;
  };
  static constexpr std::size_t kPages = 256;    // a power of two; holds four seconds of looks
  static constexpr std::size_t kLargest = 128;  // octets of a record

  [[nodiscard]] Record record(const perf_event_header& header, std::uint64_t at) const {
    Record found{.type = header.type, .misc = header.misc};
    if (header.type == PERF_RECORD_SAMPLE) {
      const auto sample = read<Sample>(at);
      found.at_ns = sample.at_ns;
      found.thread = sample.thread;
    } else if (header.type == PERF_RECORD_SWITCH_CPU_WIDE) {
      const auto switched = read<Switched>(at);
      found.at_ns = switched.sample.at_ns;
      found.thread = switched.sample.thread;
      found.next = switched.other_thread;
    }
    return found;
  }

  // Copies from the ring. Its data begins on the second page; a record may wrap around its end.
  template <class Value>
  [[nodiscard]] Value read(std::uint64_t from) const {
    std::array<char, sizeof(Value)> octets;
    const auto* data = static_cast<const char*>(ring_) + page_size();
    const auto at = from % capacity();
    const auto first = std::min(octets.size(), capacity() - at);
    std::memcpy(octets.data(), data + at, first);
    std::memcpy(octets.data() + first, data, octets.size() - first);
    return std::bit_cast<Value>(octets);
  }

  [[nodiscard]] static std::size_t page_size() {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }
  [[nodiscard]] static std::size_t capacity() { return kPages * page_size(); }
  [[nodiscard]] static std::size_t size() { return (kPages + 1) * page_size(); }

  int descriptor_;
  void* ring_ = nullptr;
};

// The thread `from` leaves the CPU to the thread `to`.
struct Switch {
  std::uint64_t at_ns = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;
  bool preempted = false;  // `from` would have gone on
};

class Switches {
 public:
  // A record costs the CPU about 1.5 us, so more of them than looks would slow a gateway down.
  static constexpr std::uint64_t kMostPerSecond = 10'000;

  // begin_ns: from here on there are records.
  explicit Switches(std::uint64_t begin_ns = 0) : begin_ns_(begin_ns), last_ns_(begin_ns) {}

  // Returns what the CPU did until the switch, and what it does from then on. found: of a thread.
  // Whatever runs while a thread of the gateway is preempted has taken the CPU from it.
  template <class OccupantOf>
  std::pair<Occupant, Occupant> add(const Switch& change, OccupantOf occupant) {
    ++count_;
    const auto before = known(occupant(change.from));
    rest_ns_ = rested_ns(change.at_ns);
    last_ns_ = std::max(last_ns_, change.at_ns);
    if (occupant(change.from) == Occupant::kGateway) gateway_waits_ = change.preempted;
    now_ = occupant(change.to);
    if (*now_ == Occupant::kGateway) gateway_waits_ = false;
    if (gateway_waits_) now_ = Occupant::kForeign;
    return {before, *now_};
  }

  // Returns what the CPU does: what a look has found, if there was no switch before it.
  Occupant known(Occupant look) {
    if (!now_) now_ = look;
    return *now_;
  }
  // Returns whether a thread of the gateway was preempted and has not come back.
  [[nodiscard]] bool gateway_waits() const { return gateway_waits_; }
  // Returns whether there were too many records for what they cost.
  [[nodiscard]] bool too_many(std::uint64_t at_ns) const {
    constexpr std::uint64_t kLeast = kMostPerSecond / 10;  // fewer may be a burst
    return count_ > kLeast && count_ * 1'000'000'000 > kMostPerSecond * (at_ns - begin_ns_);
  }
  // Forgets earlier rests: the tester's own thread caused them.
  void rests_from(std::uint64_t at_ns) {
    begin_ns_ = last_ns_ = at_ns;
    rest_ns_ = count_ = 0;
  }
  // Returns whether the gateway left less than a tenth of the time until now to others.
  [[nodiscard]] bool is_polled(std::uint64_t at_ns) const {
    return rested_ns(at_ns) * 10 < at_ns - begin_ns_;
  }

 private:
  [[nodiscard]] std::uint64_t rested_ns(std::uint64_t at_ns) const {
    const bool rests = now_ == Occupant::kIdle || now_ == Occupant::kOther;
    return rest_ns_ + (rests && at_ns > last_ns_ ? at_ns - last_ns_ : 0);
  }

  std::uint64_t begin_ns_;
  std::uint64_t last_ns_;
  std::uint64_t rest_ns_ = 0;
  std::uint64_t count_ = 0;
  std::optional<Occupant> now_;
  bool gateway_waits_ = false;
};

}  // namespace natxy::watch
