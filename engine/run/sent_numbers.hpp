// Which numbers of a stream have left by now, as its senders tell while they send.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace natxy::run {

// Sender s of k takes the numbers s, s + k, s + 2k, ...; each tells how many it has sent.
class SentNumbers {
 public:
  void add(const std::atomic<std::uint64_t>& sent) { senders_.push_back(&sent); }

  [[nodiscard]] bool has_left(std::uint64_t number) const {
    if (senders_.empty()) return false;
    const auto count = senders_.size();
    return number / count < senders_[number % count]->load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t total() const {
    std::uint64_t total = 0;
    for (const auto* sent : senders_) total += sent->load(std::memory_order_relaxed);
    return total;
  }

 private:
  std::vector<const std::atomic<std::uint64_t>*> senders_;
};

}  // namespace natxy::run
