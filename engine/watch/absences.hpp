// From looks at a CPU to the times in which it did not work for whom it was to work for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace natxy::watch {

// What a look at a CPU found there.
enum class Found : std::uint8_t {
  kGateway,  // a thread that was named
  kOther,    // one that gives way to those: the CPU rests, as far as they are concerned
  kForeign,  // one that takes the CPU from those
};

// One look at a CPU, from its timer's interrupt.
struct Sample {
  std::uint64_t at_ns = 0;
  Found found = Found::kGateway;
};

struct Absences {
  std::uint64_t samples = 0;
  std::uint64_t count = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t longest_ns = 0;
};

// Looks come every period_ns. The CPU may have been away between two looks where one of them saw a
// foreign thread, or where they are further apart than one and a half periods: its timer did not
// run then. So these are upper bounds, to a period at each end. What lies between two looks whole
// is not seen.
//
// A CPU that was busy and then rests for longer than kLongestRestNs counts as away, too. The kernel
// gives ordinary threads 50 ms of each second where real-time ones leave them nothing, and a
// gateway that waits for them looks like one that has nothing to do. While frames come a busy
// gateway does not rest for so long; a rest that began before them, or went on after the last, says
// nothing. Of one that is not busy, a look finds the few microseconds that a frame takes too seldom
// to say that it rests: it may forward a hundred frames between two that see it.
//
// Looks are not kept, only the stretches of time in which the CPU was there or away: ten thousand
// looks a second would fill the memory of a long trial.
class Looks {
 public:
  static constexpr std::uint64_t kLongestRestNs = 20'000'000;

  // From begin_ns on looks may come.
  Looks(std::uint64_t begin_ns, std::uint64_t period_ns)
      : period_ns_(period_ns), known_until_ns_(begin_ns), last_{.at_ns = begin_ns} {}

  // In the order of time. was_busy: the gateway left others little of the CPU before this look.
  void add(const Sample& look, bool was_busy) {
    if (look.at_ns <= last_.at_ns) {  // it was on its way when they began
      last_.found = look.found;
      return;
    }
    const bool away =
        last_.found == Found::kForeign || look.found == Found::kForeign || late(look.at_ns);
    if (!away && last_.found == Found::kOther && look.found == Found::kOther) {
      if (resting_looks_++ == 0) was_busy_ = was_busy;
    } else {
      end_rest();
      extend(look.at_ns, 1, away ? State::kAway : State::kThere);
    }
    last_ = look;
  }
  // No look comes after end_ns. Without it nobody would know of a CPU that is still away.
  void end(std::uint64_t end_ns) {
    end_rest();
    if (end_ns > last_.at_ns && late(end_ns)) extend(end_ns, 0, State::kAway);
  }

  [[nodiscard]] Absences absences(std::uint64_t from_ns, std::uint64_t until_ns) const {
    Absences found;
    for (const auto& stretch : stretches_) {
      const auto first = std::max(stretch.from_ns, from_ns);
      const auto last = std::min(stretch.until_ns, until_ns);
      if (first >= last) continue;
      const auto within_ns = last - first;
      found.samples += part(stretch, within_ns);
      const bool whole = within_ns == stretch.until_ns - stretch.from_ns;
      if (stretch.state == State::kThere || (stretch.state == State::kRested && !whole)) continue;
      ++found.count;
      found.total_ns += within_ns;
      found.longest_ns = std::max(found.longest_ns, within_ns);
    }
    return found;
  }

 private:
  enum class State : std::uint8_t { kThere, kAway, kRested };
  struct Stretch {
    std::uint64_t from_ns = 0;
    std::uint64_t until_ns = 0;
    std::uint64_t looks = 0;
    State state = State::kThere;
  };

  [[nodiscard]] bool late(std::uint64_t at_ns) const {
    return at_ns - last_.at_ns > period_ns_ + period_ns_ / 2;
  }

  // The looks since known_until_ns_ have found others only.
  void end_rest() {
    if (resting_looks_ == 0) return;
    const bool rested = was_busy_ && last_.at_ns - known_until_ns_ > kLongestRestNs;
    extend(last_.at_ns, std::exchange(resting_looks_, 0), rested ? State::kRested : State::kThere);
  }

  void extend(std::uint64_t until_ns, std::uint64_t looks, State state) {
    if (stretches_.empty() || stretches_.back().state != state) {
      stretches_.push_back(
          {.from_ns = known_until_ns_, .until_ns = known_until_ns_, .state = state});
    }
    stretches_.back().until_ns = until_ns;
    stretches_.back().looks += looks;
    known_until_ns_ = until_ns;
  }

  // How many looks came in a part of a stretch, to one: they are evenly spread.
  [[nodiscard]] static std::uint64_t part(const Stretch& stretch, std::uint64_t part_ns) {
    const auto share =
        static_cast<double>(part_ns) / static_cast<double>(stretch.until_ns - stretch.from_ns);
    return static_cast<std::uint64_t>(share * static_cast<double>(stretch.looks) + 0.5);
  }

  std::uint64_t period_ns_;
  std::uint64_t known_until_ns_;     // the stretches end there
  std::uint64_t resting_looks_ = 0;  // since then
  bool was_busy_ = false;            // before the first of these
  Sample last_;
  std::vector<Stretch> stretches_;
};

}  // namespace natxy::watch
