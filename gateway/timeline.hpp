// Things that wait for their time: taken out in order of time, equal times in order of arrival.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "gateway/octets.hpp"

namespace natxy::gateway {

template <typename T>
class Timeline {
 public:
  void put(Nanoseconds due_ns, T thing) {
    heap_.push_back({due_ns, next_order_++, std::move(thing)});
    std::ranges::push_heap(heap_, later);
  }

  [[nodiscard]] bool has_due(Nanoseconds now_ns) const {
    return !heap_.empty() && heap_.front().due_ns <= now_ns;
  }

  // The first thing and its time; only where there is one.
  [[nodiscard]] std::pair<Nanoseconds, T> take() {
    std::ranges::pop_heap(heap_, later);
    auto entry = std::move(heap_.back());
    heap_.pop_back();
    return {entry.due_ns, std::move(entry.thing)};
  }

 private:
  struct Entry {
    Nanoseconds due_ns;
    std::uint64_t order;
    T thing;
  };
  static bool later(const Entry& a, const Entry& b) {
    return a.due_ns != b.due_ns ? a.due_ns > b.due_ns : a.order > b.order;
  }

  std::vector<Entry> heap_;
  std::uint64_t next_order_ = 0;
};

}  // namespace natxy::gateway
