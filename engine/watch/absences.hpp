// From looks at a CPU to the times in which it did not work for whom it was to work for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace natxy::watch {

// One look at a CPU, from its timer's interrupt.
struct Sample {
  std::uint64_t at_ns = 0;
  bool foreign = false;  // a thread ran there that took the CPU from those that were named
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
// Looks are not kept, only the stretches of time in which the CPU was there or away: ten thousand
// looks a second would fill the memory of a long trial.
class Looks {
 public:
  // From begin_ns on looks may come.
  Looks(std::uint64_t begin_ns, std::uint64_t period_ns)
      : period_ns_(period_ns), last_{.at_ns = begin_ns} {}

  // In the order of time.
  void add(const Sample& look) {
    if (look.at_ns <= last_.at_ns) {  // it was on its way when they began
      last_.foreign = look.foreign;
      return;
    }
    extend(look.at_ns, 1, last_.foreign || look.foreign || late(look.at_ns));
    last_ = look;
  }
  // No look comes after end_ns. Without it nobody would know of a CPU that is still away.
  void end(std::uint64_t end_ns) {
    if (end_ns > last_.at_ns && late(end_ns)) extend(end_ns, 0, true);
  }

  [[nodiscard]] Absences absences(std::uint64_t from_ns, std::uint64_t until_ns) const {
    Absences found;
    for (const auto& stretch : stretches_) {
      const auto first = std::max(stretch.from_ns, from_ns);
      const auto last = std::min(stretch.until_ns, until_ns);
      if (first >= last) continue;
      const auto within_ns = last - first;
      found.samples += part(stretch, within_ns);
      if (!stretch.away) continue;
      ++found.count;
      found.total_ns += within_ns;
      found.longest_ns = std::max(found.longest_ns, within_ns);
    }
    return found;
  }

 private:
  struct Stretch {
    std::uint64_t from_ns = 0;
    std::uint64_t until_ns = 0;
    std::uint64_t looks = 0;
    bool away = false;
  };

  [[nodiscard]] bool late(std::uint64_t at_ns) const {
    return at_ns - last_.at_ns > period_ns_ + period_ns_ / 2;
  }

  void extend(std::uint64_t until_ns, std::uint64_t looks, bool away) {
    if (stretches_.empty() || stretches_.back().away != away) {
      stretches_.push_back({.from_ns = last_.at_ns, .until_ns = last_.at_ns, .away = away});
    }
    stretches_.back().until_ns = until_ns;
    stretches_.back().looks += looks;
  }

  // How many looks came in a part of a stretch, to one: they are evenly spread.
  [[nodiscard]] static std::uint64_t part(const Stretch& stretch, std::uint64_t part_ns) {
    const auto share =
        static_cast<double>(part_ns) / static_cast<double>(stretch.until_ns - stretch.from_ns);
    return static_cast<std::uint64_t>(share * static_cast<double>(stretch.looks) + 0.5);
  }

  std::uint64_t period_ns_;
  Sample last_;
  std::vector<Stretch> stretches_;
};

}  // namespace natxy::watch
