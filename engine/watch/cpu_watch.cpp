#include "watch/cpu_watch.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <set>
#include <system_error>

#include "watch/wakeful_cpu.hpp"

namespace natxy::watch {
namespace {

constexpr std::size_t kPages = 256;  // a power of two; more than four seconds of samples

perf_event_attr attributes() {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_SOFTWARE;
  wanted.config = PERF_COUNT_SW_CPU_CLOCK;
  wanted.sample_period = CpuWatch::kPeriodNs;
  wanted.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  wanted.use_clockid = 1;
  wanted.clockid = CLOCK_MONOTONIC_RAW;
  wanted.disabled = 1;
  wanted.watermark = 1;
  wanted.wakeup_watermark = 1U << 30U;  // nobody sleeps on it
  return wanted;
}

struct SampleRecord {  // by the sample_type above
  std::uint32_t process;
  std::uint32_t thread;
  std::uint64_t at_ns;
};

}  // namespace

std::uint64_t raw_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

class CpuWatch::Event {
 public:
  explicit Event(const spec::WatchedCpu& watched)
      : cpu_(watched.cpu), own_(watched.threads.begin(), watched.threads.end()) {
    own_.insert(0);  // the idle task takes nothing away
    auto wanted = attributes();
    descriptor_ =
        static_cast<int>(syscall(SYS_perf_event_open, &wanted, -1, cpu_, -1, PERF_FLAG_FD_CLOEXEC));
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category());
    ring_ = mmap(nullptr, size(), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (ring_ != MAP_FAILED) return;
    const auto error = errno;
    close(descriptor_);
    throw std::system_error(error, std::generic_category());
  }
  ~Event() {
    munmap(ring_, size());
    close(descriptor_);
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void begin() {
    collect();
    samples_.clear();
    awake_.emplace(cpu_);
    ioctl(descriptor_, PERF_EVENT_IOC_ENABLE, 0);
  }
  void end() {
    ioctl(descriptor_, PERF_EVENT_IOC_DISABLE, 0);
    collect();
    awake_.reset();
  }

  void collect() {
    auto* page = static_cast<perf_event_mmap_page*>(ring_);
    const auto head = std::atomic_ref(page->data_head).load(std::memory_order_acquire);
    auto tail = page->data_tail;
    while (tail < head) {
      perf_event_header header{};
      copy(&header, tail, sizeof header);
      if (header.type == PERF_RECORD_SAMPLE) {
        SampleRecord record{};
        copy(&record, tail + sizeof header, sizeof record);
        samples_.push_back(
            {.at_ns = record.at_ns, .foreign = !is_own(static_cast<std::int32_t>(record.thread))});
      }
      tail += header.size;
    }
    std::atomic_ref(page->data_tail).store(tail, std::memory_order_release);
  }

  [[nodiscard]] int cpu() const { return cpu_; }
  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }

 private:
  [[nodiscard]] bool is_own(std::int32_t thread) const {
    return own_.contains(thread) || (awake_ && awake_->thread() == thread);
  }
  [[nodiscard]] static std::size_t page_size() {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }
  [[nodiscard]] static std::size_t size() { return (kPages + 1) * page_size(); }

  // The ring's data begins on the page after the first; a record may wrap at its end.
  void copy(void* to, std::uint64_t from, std::size_t octets) const {
    const auto* data = static_cast<const char*>(ring_) + page_size();
    const auto capacity = kPages * page_size();
    const auto at = from % capacity;
    const auto first = std::min<std::size_t>(octets, capacity - at);
    std::memcpy(to, data + at, first);
    std::memcpy(static_cast<char*>(to) + first, data, octets - first);
  }

  int cpu_;
  std::set<std::int32_t> own_;
  int descriptor_ = -1;
  void* ring_ = nullptr;
  std::vector<Sample> samples_;
  std::optional<WakefulCpu> awake_;
};

CpuWatch::CpuWatch(const std::vector<spec::WatchedCpu>& watched) {
  for (const auto& each : watched) {
    try {
      events_.push_back(std::make_unique<Event>(each));
    } catch (const std::system_error& error) {
      refusal_ = "CPU " + std::to_string(each.cpu) +
                 " could not be watched by perf's cpu-clock event: " + error.code().message();
    }
  }
}

CpuWatch::~CpuWatch() = default;

void CpuWatch::begin() {
  for (const auto& event : events_) event->begin();
}

void CpuWatch::collect() {
  for (const auto& event : events_) event->collect();
}

void CpuWatch::end() {
  for (const auto& event : events_) event->end();
}

std::vector<CpuWatch::Watched> CpuWatch::seen(std::uint64_t from_ns, std::uint64_t until_ns) const {
  std::vector<Watched> all;
  for (const auto& event : events_) {
    all.push_back({.cpu = event->cpu(),
                   .absences = absences(event->samples(), from_ns, until_ns, kPeriodNs)});
  }
  return all;
}

}  // namespace natxy::watch
