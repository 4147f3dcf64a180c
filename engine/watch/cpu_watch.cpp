#include "watch/cpu_watch.hpp"

#include <linux/perf_event.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "watch/absences.hpp"
#include "watch/scheduling.hpp"
#include "watch/switches.hpp"
#include "watch/wakeful_cpu.hpp"

namespace natxy::watch {
namespace {

// In place of the switches that the kernel has left out. At time 0: after those before it.
constexpr std::uint32_t kLeftOut = 0;

// Returns whether the kernel throttles real-time threads that leave nothing of a CPU to others.
bool throttles_realtime() {
  std::ifstream file("/proc/sys/kernel/sched_rt_runtime_us");
  long runtime_us = 0;
  return !(file >> runtime_us) || runtime_us >= 0;
}

}  // namespace

std::uint64_t raw_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

class CpuWatch::Event {
 public:
  Event(const spec::WatchedCpu& watched, KnownCpu& known)
      : cpu_(watched.cpu),
        named_(watched.threads.begin(), watched.threads.end()),
        known_(known),
        ring_(looks_wanted(CpuWatch::kPeriodNs), cpu_) {
    open_switches();
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void begin() {
    take();  // of earlier phases
    seen_.clear();
    changes_.clear();
    next_ = 0;
    throttles_ = false;
    spinner_ = 0;
    fault_.clear();
    threads_.emplace(named_);
    kept_awake_ns_ = 0;
    if (!known_.polls) awake_.emplace(cpu_);
    load_ = {};
    placement_ = {};
    awake_took_ = false;
    throttled_ = throttles_realtime();
    ring_.enable();
    if (switch_ring_) switch_ring_->enable();
    const auto now = raw_ns();
    looks_.emplace(now, CpuWatch::kPeriodNs);
    switches_ = Switches(now);
  }
  void end() {
    const auto now = raw_ns();
    ring_.disable();
    if (switch_ring_) switch_ring_->disable();
    collect();
    add_changes(now);
    looks_->end(now);
    known_.polls = switch_ring_ && switches_.is_polled(now);
  }
  void let_sleep() {
    if (!awake_) return;
    kept_awake_ns_ = awake_->cpu_ns();
    spinner_ = awake_->thread();
    awake_.reset();
  }

  // Must be called on the tester's CPU, between begin() and let_sleep().
  void measure_placement() {
    if (awake_) placement_.add(awake_->placement());
  }
  [[nodiscard]] const Placement& placement() const { return placement_; }

  void collect() {
    take();
    for (const auto& record : seen_) {
      if (record.type == PERF_RECORD_SAMPLE) {
        add_changes(record.at_ns);
        add_look(record);
      } else if (record.type == PERF_RECORD_THROTTLE && switch_ring_) {
        throttles_ = true;  // at the look that follows
      } else if (record.type != PERF_RECORD_UNTHROTTLE || !switch_ring_) {
        note_fault(record.type);
      }
    }
    seen_.clear();
    changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(next_));
    next_ = 0;
    if (switch_ring_ && switches_.too_many(raw_ns())) too_many_switches();
    stay_awake();
  }

  [[nodiscard]] int cpu() const { return cpu_; }
  // Returns the CPU time of the thread that kept the CPU awake; known after let_sleep().
  [[nodiscard]] std::uint64_t kept_awake_ns() const { return kept_awake_ns_; }
  // Returns whether the gateway leaves little of the CPU to others.
  [[nodiscard]] bool is_busy() const { return load_.busy() || known_.polls; }
  // Returns the thread that took the CPU from the gateway most since begin().
  [[nodiscard]] GatewayThreads::Taker taker() const {
    return threads_ ? threads_->taker() : GatewayThreads::Taker{};
  }
  // Returns why the looks since begin() cannot be used, in a sentence; empty if they can.
  [[nodiscard]] const std::string& fault() const { return fault_; }
  [[nodiscard]] Absences absences(std::uint64_t from_ns, std::uint64_t until_ns) const {
    return looks_ ? looks_->absences(from_ns, until_ns) : Absences{};
  }
  [[nodiscard]] std::optional<std::uint64_t> away_since(std::uint64_t at_ns) const {
    return looks_ ? looks_->away_since(at_ns) : std::nullopt;
  }

 private:
  // Takes the records from the rings: those of the looks first, so that all switches before the
  // last look are there.
  void take() {
    ring_.take(seen_);
    if (switch_ring_ && switch_ring_->take(changes_)) changes_.push_back({.type = kLeftOut});
  }

  void add_look(const Record& record) {
    const auto look = occupant_at(record.thread);
    if (look == Occupant::kForeign) threads_->found(record.thread);
    const auto occupant = switch_ring_ ? switches_.known(look) : look;
    looks_->add({.at_ns = record.at_ns, .occupant = occupant}, is_busy());
    load_.add(occupant);
    if (std::exchange(throttles_, false)) throttle(occupant);
  }

  // The kernel takes no further looks until its next tick, which comes late on a CPU that is idle.
  void throttle(Occupant occupant) {
    if (occupant == Occupant::kIdle) return looks_->pause();
    note_fault(PERF_RECORD_THROTTLE);
  }

  // Adds the switches until a time.
  void add_changes(std::uint64_t until_ns) {
    for (; next_ < changes_.size() && changes_[next_].at_ns <= until_ns; ++next_) {
      const auto& change = changes_[next_];
      if (change.type == kLeftOut || change.type == PERF_RECORD_LOST) return too_many_switches();
      add_switch(change);
    }
  }

  // Each switch has two records: of the thread that leaves and of the one that comes. The first one
  // says all.
  void add_switch(const Record& record) {
    const bool leaves = (record.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
    if (record.type != PERF_RECORD_SWITCH_CPU_WIDE || !leaves) return;
    const Switch change{.at_ns = record.at_ns,
                        .from = record.thread,
                        .to = record.next,
                        .preempted = (record.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0};
    const auto [from, to] =
        switches_.add(change, [this](auto thread) { return occupant_at(thread); });
    looks_->add_switch(change.at_ns, from, to, is_busy());
    if (switches_.gateway_waits() && awake_ && awake_->thread() == change.to) awake_took_ = true;
  }

  // Without records of switches, looks and a CPU that is kept awake tell nearly as much. They have
  // a ring of their own, so that a gateway that switches often fills no ring of the looks.
  void open_switches() {
    if (known_.switches_often) return;
    try {
      switch_ring_.emplace(switches_wanted(), cpu_);
    } catch (const std::system_error&) {  // an old kernel
    }
  }
  void too_many_switches() {
    known_.switches_often = true;
    switch_ring_.reset();
    changes_.clear();
    next_ = 0;
    switches_ = Switches();
    if (looks_ && !awake_ && known_.polls) awake_.emplace(cpu_);
    known_.polls = false;
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
  // Keeps the CPU awake. The thread that does so stops if it has taken the CPU from the gateway, or
  // would: from a busy gateway that is not real-time, or whose real-time threads would be throttled
  // with it. Without records, a CPU that sleeps between frames then looks like one that is away.
  void stay_awake() {
    if (!awake_) return;
    const bool would_take = load_.busy() && (throttled_ || !threads_->are_realtime());
    if (awake_took_ || would_take) {
      placement_ = {};  // of two threads that shared the CPU
      let_sleep();
      return switches_.rests_from(raw_ns());
    }
    awake_->insist(load_.busy());
  }
  [[nodiscard]] Occupant occupant_at(std::int32_t thread) {
    if (thread == 0 && switch_ring_) return Occupant::kIdle;
    if (is_idle(thread)) return Occupant::kOther;
    const auto occupant = threads_->occupant(thread);
    // The thread can run only because the kernel gives it a share of the gateway's time.
    const bool given = occupant == Occupant::kOther && awake_ && awake_->insists();
    return given ? Occupant::kForeign : occupant;
  }
  // Returns whether the thread means that the CPU is idle: the idle task, or the thread that keeps
  // the CPU awake.
  [[nodiscard]] bool is_idle(std::int32_t thread) const {
    return thread == 0 || thread == (awake_ ? awake_->thread() : spinner_);
  }

  int cpu_;
  std::set<std::int32_t> named_;
  KnownCpu& known_;
  PerfRing ring_;                        // of the looks
  std::optional<PerfRing> switch_ring_;  // absent: switches are not recorded
  std::vector<Record> seen_;             // from ring_
  std::vector<Record> changes_;          // from switch_ring_, later than all looks so far
  std::size_t next_ = 0;                 // of changes_, to be added
  bool throttles_ = false;               // the kernel takes no looks after the next one
  std::optional<GatewayThreads> threads_;
  std::optional<Looks> looks_;
  Switches switches_;
  bool awake_took_ = false;  // the thread that keeps the CPU awake took it from the gateway
  RecentLoad load_;
  bool throttled_ = false;  // whether the kernel throttles real-time threads
  Placement placement_;
  std::string fault_;
  std::optional<WakefulCpu> awake_;
  std::int32_t spinner_ = 0;  // the thread that kept the CPU awake until it ended
  std::uint64_t kept_awake_ns_ = 0;
};

CpuWatch::CpuWatch(const std::vector<spec::WatchedCpu>& watched, int tester_cpu, KnownCpus& known)
    : tester_cpu_(tester_cpu), kept_off_(std::make_unique<KeptOff>(watched)) {
  for (const auto& watched_cpu : watched) {
    try {
      events_.push_back(std::make_unique<Event>(watched_cpu, known[watched_cpu.cpu]));
    } catch (const std::system_error& error) {
      refusal_ = "CPU " + std::to_string(watched_cpu.cpu) +
                 " could not be watched by perf's cpu-clock event: " + error.code().message();
    }
  }
}

CpuWatch::~CpuWatch() = default;

void CpuWatch::begin() {
  for (const auto& event : events_) event->begin();
  keep_off();
  measure_placements();
}

void CpuWatch::keep_off() {
  kept_off_->keep(std::any_of(events_.begin(), events_.end(),
                              [](const auto& event) { return event->is_busy(); }));
}

void CpuWatch::measure_placements() {
  if (events_.empty()) return;
  const OnCpu here(tester_cpu_);
  if (!here.moved()) return;
  for (const auto& event : events_) event->measure_placement();
}

void CpuWatch::collect() {
  for (const auto& event : events_) event->collect();
  keep_off();
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
         .kept_awake_ns = event->kept_awake_ns(),
         .taker = event->taker()});
  }
  return all;
}

}  // namespace natxy::watch
