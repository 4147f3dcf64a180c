// A queue of things that wait for their time. They are taken in the order of their times; at equal
// times, in the order of arrival.
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

  [[nodiscard]] bool is_empty() const { return heap_.empty(); }
  [[nodiscard]] bool has_due(Nanoseconds now_ns) const {
    return !heap_.empty() && heap_.front().due_ns <= now_ns;
  }

  // Removes the first thing and returns it with its time. The queue must not be empty.
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
