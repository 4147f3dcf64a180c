// Tells receivers which numbers of a stream have left, and the base of their stamps. The senders
// update both while they send.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "run/stamp_bases.hpp"

namespace natxy::run {

// Sender s of k sends the numbers s, s + k, s + 2k, ...; each publishes how many it has sent.
class SentNumbers {
 public:
  // Adds a sender. bases: null if it does not pause.
  void add(const std::atomic<std::uint64_t>& sent, const StampBases* bases = nullptr) {
    senders_.push_back({.sent = &sent, .bases = bases});
  }

  [[nodiscard]] bool has_left(std::uint64_t number) const {
    if (senders_.empty()) return false;
    const auto count = senders_.size();
    return number / count < senders_[number % count].sent->load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t total() const {
    std::uint64_t total = 0;
    for (const auto& sender : senders_) total += sender.sent->load(std::memory_order_relaxed);
    return total;
  }
  // Returns the part of a frame's lateness that its stamp leaves out.
  [[nodiscard]] Ticks stamp_base(std::uint64_t number) const {
    if (senders_.empty()) return 0;
    const auto* bases = senders_[number % senders_.size()].bases;
    return bases == nullptr ? 0 : bases->at(number);
  }

 private:
  struct Sender {
    const std::atomic<std::uint64_t>* sent;
    const StampBases* bases;
  };
  std::vector<Sender> senders_;
};

}  // namespace natxy::run
