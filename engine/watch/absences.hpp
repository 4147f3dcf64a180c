// Derives the absences of a CPU from samples of what it runs. A sample is called a look.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "spec/runs.hpp"

namespace natxy::watch {

// What a look found on a CPU.
enum class Occupant : std::uint8_t {
  kGateway,  // a thread of the gateway
  kIdle,     // nothing, as the scheduler tells: then the timer need not run
  kOther,    // a thread that gives way to the gateway: the CPU rests, as the gateway sees it
  kForeign,  // a thread that takes the CPU from the gateway
};

// One look at a CPU, taken by the interrupt of its timer.
struct Sample {
  std::uint64_t at_ns = 0;
  Occupant occupant = Occupant::kGateway;
};

struct Absences {
  std::uint64_t samples = 0;
  std::uint64_t busy = 0;  // samples that found a thread of the gateway
  std::uint64_t count = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t longest_ns = 0;
  spec::Runs list;  // in ns since from_ns; bounded, so some may be joined
};

// Looks at a CPU, which come every period_ns. The CPU counts as away between two looks if one of
// them found a foreign thread, or if they are further apart than one and a half periods, because
// then its timer did not run. So absences are upper bounds, to within a period at each end. An
// absence between two looks is not seen. Where the scheduler records its switches, they are added
// as well, and what ran between them is known exactly.
//
// A CPU that was busy and then rests for longer than kLongestRestNs also counts as away. The kernel
// gives ordinary threads 50 ms of each second if real-time threads leave them nothing, and a
// gateway that waits for them looks as if it had nothing to do. A busy gateway does not rest for so
// long while frames arrive; a rest that began before the frames, or continued after them, does not
// count. The rest of a gateway that is not busy does not count either: looks seldom find the few
// microseconds of a frame, and a hundred frames may pass between two looks that find one.
//
// Only the stretches of time in which the CPU was there or away are kept, not the looks: ten
// thousand looks a second would fill the memory in a long trial.
class Looks {
 public:
  static constexpr std::uint64_t kLongestRestNs = 20'000'000;

  // begin_ns: the time from which on there are looks.
  Looks(std::uint64_t begin_ns, std::uint64_t period_ns)
      : period_ns_(period_ns), known_until_ns_(begin_ns), last_{.at_ns = begin_ns} {}

  // Adds a look, in the order of time. was_busy: before this look, the gateway left little of the
  // CPU to others.
  void add(const Sample& look, bool was_busy) {
    if (look.at_ns <= last_.at_ns) {  // a look from before begin_ns
      last_.occupant = look.occupant;
      return;
    }
    const bool away = last_.occupant == Occupant::kForeign || look.occupant == Occupant::kForeign ||
                      (late(look.at_ns) && last_.occupant != Occupant::kIdle);
    const Count count{.all = 1, .busy = look.occupant == Occupant::kGateway ? 1U : 0U};
    pass(look.at_ns, count, away, rests(last_.occupant) && rests(look.occupant), was_busy);
    last_ = look;
    paused_ = false;
  }
  // Adds the scheduler's record that the CPU changes from one thread to another.
  void add_switch(std::uint64_t at_ns, Occupant from, Occupant to, bool was_busy) {
    if (at_ns > last_.at_ns) {
      const bool away = from == Occupant::kForeign || (late(at_ns) && from != Occupant::kIdle);
      pass(at_ns, {}, away, rests(from), was_busy);
      last_.at_ns = at_ns;
    }
    last_.occupant = to;
  }
  // The kernel takes no looks until its next tick, as on a CPU that sleeps without ticks. The
  // records of switches still tell what runs, so that a missing look is no absence.
  void pause() { paused_ = true; }
  // Ends the looks at end_ns. This reveals a CPU that is still away.
  void end(std::uint64_t end_ns) {
    end_rest();
    const bool is_late = end_ns > last_.at_ns && late(end_ns);
    if (is_late && last_.occupant != Occupant::kIdle) extend(end_ns, {}, State::kAway);
  }

  [[nodiscard]] Absences absences(std::uint64_t from_ns, std::uint64_t until_ns) const {
    Absences absences;
    for (const auto& stretch : stretches_) {
      const auto first = std::max(stretch.from_ns, from_ns);
      const auto last = std::min(stretch.until_ns, until_ns);
      if (first >= last) continue;
      const auto within_ns = last - first;
      absences.samples += part(stretch, stretch.looks.all, within_ns);
      absences.busy += part(stretch, stretch.looks.busy, within_ns);
      const bool whole = within_ns == stretch.until_ns - stretch.from_ns;
      if (stretch.state == State::kThere || (stretch.state == State::kRested && !whole)) continue;
      ++absences.count;
      absences.total_ns += within_ns;
      absences.longest_ns = std::max(absences.longest_ns, within_ns);
      absences.list.add({.first = first - from_ns, .end = last - from_ns, .count = within_ns});
    }
    return absences;
  }

  // Returns when the absence began that was there at a time, to within two periods; absent if the
  // CPU was not away then. A rest is no absence here: at the end of a trial, no frames come.
  [[nodiscard]] std::optional<std::uint64_t> away_since(std::uint64_t at_ns) const {
    for (auto stretch = stretches_.rbegin(); stretch != stretches_.rend(); ++stretch) {
      if (stretch->from_ns >= at_ns) continue;
      const bool is_there = stretch->until_ns + 2 * period_ns_ >= at_ns;
      if (stretch->state != State::kAway || !is_there) return std::nullopt;
      return stretch->from_ns;
    }
    return std::nullopt;
  }

 private:
  enum class State : std::uint8_t { kThere, kAway, kRested };
  struct Count {
    std::uint64_t all = 0;
    std::uint64_t busy = 0;  // those that found the gateway
  };
  struct Stretch {
    std::uint64_t from_ns = 0;
    std::uint64_t until_ns = 0;
    Count looks;
    State state = State::kThere;
  };

  [[nodiscard]] bool late(std::uint64_t at_ns) const {
    return !paused_ && at_ns - last_.at_ns > period_ns_ + period_ns_ / 2;
  }

  [[nodiscard]] static bool rests(Occupant occupant) {
    return occupant == Occupant::kOther || occupant == Occupant::kIdle;
  }

  // Takes the time since last_ as an absence, as a part of a rest, or as neither.
  void pass(std::uint64_t until_ns, Count looks, bool away, bool rests, bool was_busy) {
    if (rests && !away) {
      if (!std::exchange(resting_, true)) was_busy_ = was_busy;
      resting_looks_ += looks.all;
      return;
    }
    end_rest();
    extend(until_ns, looks, away ? State::kAway : State::kThere);
  }

  // Ends a rest: since known_until_ns_, only other threads ran.
  void end_rest() {
    if (!std::exchange(resting_, false)) return;
    const bool rested = was_busy_ && last_.at_ns - known_until_ns_ > kLongestRestNs;
    extend(last_.at_ns, {.all = std::exchange(resting_looks_, 0)},
           rested ? State::kRested : State::kThere);
  }

  void extend(std::uint64_t until_ns, Count looks, State state) {
    if (stretches_.empty() || stretches_.back().state != state) {
      stretches_.push_back(
          {.from_ns = known_until_ns_, .until_ns = known_until_ns_, .state = state});
    }
    stretches_.back().until_ns = until_ns;
    stretches_.back().looks.all += looks.all;
    stretches_.back().looks.busy += looks.busy;
    known_until_ns_ = until_ns;
  }

  // Returns how many of these looks fall into a part of a stretch, to within one; they are evenly
  // spread.
  [[nodiscard]] static std::uint64_t part(const Stretch& stretch, std::uint64_t looks,
                                          std::uint64_t part_ns) {
    const auto share =
        static_cast<double>(part_ns) / static_cast<double>(stretch.until_ns - stretch.from_ns);
    return static_cast<std::uint64_t>(share * static_cast<double>(looks) + 0.5);
  }

  std::uint64_t period_ns_;
  std::uint64_t known_until_ns_;     // the end of the last stretch
  bool resting_ = false;             // since then, only other threads ran
  bool was_busy_ = false;            // before that
  std::uint64_t resting_looks_ = 0;  // looks since then
  bool paused_ = false;
  Sample last_;
  std::vector<Stretch> stretches_;
};

// Determines from the looks at a CPU whether the gateway leaves so little of a CPU to others that
// the kernel will reserve time for them.
class RecentLoad {
 public:
  void add(Occupant occupant) {
    if (occupant == Occupant::kForeign) return;
    others_ += occupant == Occupant::kGateway ? 0 : 1;
    if (++looks_ < kLooks) return;
    busy_ = others_ * 100 < kLooks * kPercent;
    looks_ = others_ = 0;
  }
  // Returns whether the gateway was busy during the last complete series of kLooks looks.
  [[nodiscard]] bool busy() const { return busy_; }

  static constexpr unsigned kLooks = 1000;  // 0.1 s; the kernel intervenes after 0.95 s
  static constexpr unsigned kPercent = 30;  // the kernel intervenes below 5, by its own measure

 private:
  unsigned looks_ = 0;
  unsigned others_ = 0;
  bool busy_ = false;
};

}  // namespace natxy::watch
