// A list of runs of ascending values, such as numbers or times, of bounded length.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace natxy::spec {

struct Run {
  std::uint64_t first = 0;
  std::uint64_t end = 0;    // not included
  std::uint64_t count = 0;  // what the run stands for; smaller than its span if it was joined
};

// If the list is full, neighbours are joined that together span no more than a number of values.
// This number grows as slowly as the bound allows, so a joined run spans at most a thousandth of
// all values or so, and longer runs stay as they are. Counts are added, so their sum is exact.
class Runs {
 public:
  static constexpr std::size_t kMost = 4096;

  Runs() : Runs(kMost) {}
  // most: at least 2.
  explicit Runs(std::size_t most) : most_(most) { list_.reserve(most); }

  // Adds a run that does not begin before the last one ends. It continues a run that ends there.
  void add(const Run& run) {
    if (continues_last(run)) return;
    if (list_.size() == most_) {
      make_room();
      if (continues_last(run)) return;
    }
    list_.push_back(run);
  }

  // Adds the runs of another list, which may overlap with these. Nothing may be added afterwards.
  void merge(const Runs& other) {
    list_.insert(list_.end(), other.list_.begin(), other.list_.end());
    std::ranges::sort(list_, {}, [](const Run& run) { return std::pair(run.first, run.end); });
  }

  [[nodiscard]] const std::vector<Run>& list() const { return list_; }

 private:
  [[nodiscard]] bool continues_last(const Run& run) {
    if (list_.empty()) return false;
    auto& last = list_.back();
    if (run.first != last.end && run.end - last.first > reach_) return false;
    last.end = run.end;
    last.count += run.count;
    return true;
  }

  // Joins runs until an eighth of the list is free.
  void make_room() {
    while (list_.size() > most_ - std::max<std::size_t>(1, most_ / 8)) {
      reach_ += reach_ / 4 + 1;
      std::vector<Run> apart;
      apart.reserve(most_);
      apart.swap(list_);
      for (const auto& run : apart) {
        if (!continues_last(run)) list_.push_back(run);
      }
    }
  }

  std::size_t most_;
  std::uint64_t reach_ = 0;  // neighbours that together span more are not joined
  std::vector<Run> list_;
};

}  // namespace natxy::spec
