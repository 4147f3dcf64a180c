// From samples of a CPU to the times in which it did not work for whom it was to work for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace natxy::watch {

// One look at a CPU, from its timer's interrupt.
struct Sample {
  std::uint64_t at_ns = 0;
  bool foreign = false;  // another thread than those that were named ran there
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
// is not seen. Samples are in the order of time.
[[nodiscard]] inline Absences absences(std::span<const Sample> samples, std::uint64_t from_ns,
                                       std::uint64_t until_ns, std::uint64_t period_ns) {
  Absences found;
  std::uint64_t present = 0;
  const auto end = [&] {
    found.count += present > 0;
    found.longest_ns = std::max(found.longest_ns, present);
    present = 0;
  };
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const auto& [before, foreign_before] = samples[i - 1];
    const auto& [at, foreign] = samples[i];
    const auto first = std::max(before, from_ns);
    const auto last = std::min(at, until_ns);
    if (first >= last) continue;
    ++found.samples;
    if (foreign_before || foreign || at - before > period_ns + period_ns / 2) {
      present += last - first;
      found.total_ns += last - first;
    } else {
      end();
    }
  }
  end();
  return found;
}

}  // namespace natxy::watch
