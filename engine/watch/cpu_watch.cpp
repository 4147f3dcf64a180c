#include "watch/cpu_watch.hpp"

#include <linux/perf_event.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <optional>
#include <set>
#include <system_error>

#include "watch/policies.hpp"
#include "watch/recent_load.hpp"
#include "watch/wakeful_cpu.hpp"

namespace natxy::watch {
namespace {

constexpr std::size_t kPages = 256;  // a power of two; holds more than four seconds of looks

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
  wanted.wakeup_watermark = 1U << 30U;  // no thread waits for the event
  return wanted;
}

// Returns whether the kernel throttles real-time threads that leave nothing of a CPU to others.
bool throttles_realtime() {
  std::ifstream file("/proc/sys/kernel/sched_rt_runtime_us");
  long runtime_us = 0;
  return !(file >> runtime_us) || runtime_us >= 0;
}

struct SampleRecord {  // layout of the sample_type above
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

// Keeps the calling thread off the watched CPUs while the gateway is busy, because there it would
// wait for the gateway and the gateway for it. At other times, the thread may run there: on the
// tester's CPUs it would disturb the workers, while the gateway has priority on its own CPU.
class CpuWatch::KeptOff {
 public:
  explicit KeptOff(const std::vector<spec::WatchedCpu>& watched) {
    if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    rest_ = before_;
    for (const auto& each : watched) CPU_CLR(static_cast<unsigned>(each.cpu), &rest_);
  }
  ~KeptOff() { keep(false); }
  KeptOff(const KeptOff&) = delete;
  KeptOff& operator=(const KeptOff&) = delete;

  void keep(bool off) {
    if (off == off_ || CPU_COUNT(&rest_) == 0) return;
    off_ = off;
    sched_setaffinity(0, sizeof rest_, off ? &rest_ : &before_);
  }

 private:
  cpu_set_t before_{};
  cpu_set_t rest_{};
  bool off_ = false;
};

// Keeps the calling thread on one CPU while this exists, if the system allows it.
class OnCpu {
 public:
  explicit OnCpu(int cpu) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<unsigned>(cpu), &only);
    moved_ = sched_getaffinity(0, sizeof before_, &before_) == 0 &&
             sched_setaffinity(0, sizeof only, &only) == 0;
  }
  ~OnCpu() {
    if (moved_) sched_setaffinity(0, sizeof before_, &before_);
  }
  OnCpu(const OnCpu&) = delete;
  OnCpu& operator=(const OnCpu&) = delete;

  [[nodiscard]] bool moved() const { return moved_; }

 private:
  cpu_set_t before_{};
  bool moved_ = false;
};

class CpuWatch::Event {
 public:
  explicit Event(const spec::WatchedCpu& watched)
      : cpu_(watched.cpu), named_(watched.threads.begin(), watched.threads.end()) {
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
    drain([](const perf_event_header&, std::uint64_t) {});
    fault_.clear();
    threads_.emplace(named_);
    kept_awake_ns_ = 0;
    awake_.emplace(cpu_);
    load_ = {};
    placement_ = {};
    throttled_ = throttles_realtime();
    ioctl(descriptor_, PERF_EVENT_IOC_ENABLE, 0);
    looks_.emplace(raw_ns(), CpuWatch::kPeriodNs);
  }
  void end() {
    const auto now = raw_ns();
    ioctl(descriptor_, PERF_EVENT_IOC_DISABLE, 0);
    collect();
    looks_->end(now);
  }
  void let_sleep() {
    if (awake_) kept_awake_ns_ = awake_->cpu_ns();
    awake_.reset();
  }

  // Must be called on the tester's CPU, between begin() and let_sleep().
  void measure_placement() {
    if (awake_) placement_.add(awake_->placement());
  }
  [[nodiscard]] const Placement& placement() const { return placement_; }

  void collect() {
    drain([this](const perf_event_header& header, std::uint64_t at) {
      if (header.type != PERF_RECORD_SAMPLE) return note_fault(header.type);
      SampleRecord record{};
      copy(&record, at + sizeof header, sizeof record);
      const auto thread = static_cast<std::int32_t>(record.thread);
      const auto found = found_at(thread);
      looks_->add({.at_ns = record.at_ns, .found = found}, load_.busy());
      load_.add(found);
    });
    stay_awake();
  }

  [[nodiscard]] int cpu() const { return cpu_; }
  // Returns the CPU time of the thread that kept the CPU awake; known after let_sleep().
  [[nodiscard]] std::uint64_t kept_awake_ns() const { return kept_awake_ns_; }
  // Returns whether the gateway leaves little of the CPU to others.
  [[nodiscard]] bool is_busy() const { return load_.busy(); }
  // Returns why the looks since begin() cannot be used, in a sentence; empty if they can.
  [[nodiscard]] const std::string& fault() const { return fault_; }
  [[nodiscard]] Absences absences(std::uint64_t from_ns, std::uint64_t until_ns) const {
    return looks_ ? looks_->absences(from_ns, until_ns) : Absences{};
  }
  [[nodiscard]] std::optional<std::uint64_t> away_since(std::uint64_t at_ns) const {
    return looks_ ? looks_->away_since(at_ns) : std::nullopt;
  }

 private:
  // Calls `use` for each record in the ring, then frees them.
  template <class Use>
  void drain(Use use) {
    auto* page = static_cast<perf_event_mmap_page*>(ring_);
    const auto head = std::atomic_ref(page->data_head).load(std::memory_order_acquire);
    auto tail = page->data_tail;
    while (tail < head) {
      perf_event_header header{};
      copy(&header, tail, sizeof header);
      use(header, tail);
      tail += header.size;
    }
    std::atomic_ref(page->data_tail).store(tail, std::memory_order_release);
  }

  // Notes that the kernel left out looks; the gap that they leave is not an absence.
  void note_fault(std::uint32_t type) {
    const auto who = "CPU " + std::to_string(cpu_) + ": ";
    if (type == PERF_RECORD_THROTTLE || type == PERF_RECORD_UNTHROTTLE) {
      fault_ = who + "the kernel throttled its looks (expected kernel.perf_event_max_sample_rate " +
               "of at least " + std::to_string(1'000'000'000 / CpuWatch::kPeriodNs) + ")";
    } else if (type == PERF_RECORD_LOST || type == PERF_RECORD_LOST_SAMPLES) {
      fault_ = who + "looks were lost, since the tester did not collect them (expected at least " +
               "every four seconds)";
    }
  }
  // Keeps the CPU awake. If real-time threads are throttled and the gateway is busy, the thread
  // that does so stops: it would have the gateway throttled too. The CPU then sleeps between
  // frames, which looks like an absence.
  void stay_awake() {
    if (!awake_) return;
    if (load_.busy() && throttled_) return let_sleep();
    awake_->insist(load_.busy());
  }
  [[nodiscard]] Found found_at(std::int32_t thread) {
    if (is_idle(thread)) return Found::kOther;
    const auto found = threads_->found(thread);
    // The thread can run only because the kernel gives it a share of the gateway's time.
    const bool given = found == Found::kOther && awake_ && awake_->insists();
    return given ? Found::kForeign : found;
  }
  // Returns whether the thread means that the CPU is idle: the idle task, or the thread that keeps
  // the CPU awake.
  [[nodiscard]] bool is_idle(std::int32_t thread) const {
    return thread == 0 || (awake_ && awake_->thread() == thread);
  }
  [[nodiscard]] static std::size_t page_size() {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }
  [[nodiscard]] static std::size_t size() { return (kPages + 1) * page_size(); }

  // Copies from the ring. Its data begins on the second page; a record may wrap around its end.
  void copy(void* to, std::uint64_t from, std::size_t octets) const {
    const auto* data = static_cast<const char*>(ring_) + page_size();
    const auto capacity = kPages * page_size();
    const auto at = from % capacity;
    const auto first = std::min<std::size_t>(octets, capacity - at);
    std::memcpy(to, data + at, first);
    std::memcpy(static_cast<char*>(to) + first, data, octets - first);
  }

  int cpu_;
  std::set<std::int32_t> named_;
  int descriptor_ = -1;
  void* ring_ = nullptr;
  std::optional<GatewayThreads> threads_;
  std::optional<Looks> looks_;
  RecentLoad load_;
  bool throttled_ = false;  // whether the kernel throttles real-time threads
  Placement placement_;
  std::string fault_;
  std::optional<WakefulCpu> awake_;
  std::uint64_t kept_awake_ns_ = 0;
};

CpuWatch::CpuWatch(const std::vector<spec::WatchedCpu>& watched, int tester_cpu)
    : tester_cpu_(tester_cpu), kept_off_(std::make_unique<KeptOff>(watched)) {
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
  measure_placements();
}

void CpuWatch::measure_placements() {
  if (events_.empty()) return;
  const OnCpu here(tester_cpu_);
  if (!here.moved()) return;
  for (const auto& event : events_) event->measure_placement();
}

void CpuWatch::collect() {
  for (const auto& event : events_) event->collect();
  kept_off_->keep(std::any_of(events_.begin(), events_.end(),
                              [](const auto& event) { return event->is_busy(); }));
}

void CpuWatch::end() {
  for (const auto& event : events_) {
    event->end();
    if (!event->fault().empty()) refusal_ = event->fault();
  }
  kept_off_->keep(false);
  measure_placements();
  for (const auto& event : events_) event->let_sleep();
}

std::vector<CpuWatch::Watched> CpuWatch::seen(const Times& phase) const {
  std::vector<Watched> all;
  for (const auto& event : events_) {
    if (!event->fault().empty()) continue;
    const auto since = event->away_since(phase.end_ns);
    const bool waits = since && *since <= phase.sent_ns;
    all.push_back(
        {.cpu = event->cpu(),
         .absences = event->absences(phase.start_ns, std::max(phase.sent_ns, phase.received_ns)),
         .end_away_ns =
             waits ? std::max<std::uint64_t>(1, phase.sent_ns - std::max(*since, phase.start_ns))
                   : 0,
         .placement = event->placement(),
         .kept_awake_ns = event->kept_awake_ns()});
  }
  return all;
}

}  // namespace natxy::watch
