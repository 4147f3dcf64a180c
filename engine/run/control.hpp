// What the threads of one phase share: when it starts and when it is over.
#pragma once

#include <atomic>

#include "run/clock.hpp"

namespace natxy::run {

class Control {
 public:
  Control(unsigned senders, Ticks drain, const std::atomic<bool>& cancelled)
      : drain_(drain), cancelled_(cancelled), senders_(senders) {}

  // Each sender says once when its last frame's period is over; the last one starts the drain.
  void sender_done(Ticks when) {
    auto latest = latest_.load(std::memory_order_relaxed);
    while (latest < when && !latest_.compare_exchange_weak(latest, when)) {
    }
    if (senders_.fetch_sub(1) == 1) deadline_.store(latest_.load() + drain_);
  }
  [[nodiscard]] bool over(Ticks now) const {
    return now >= deadline_.load(std::memory_order_relaxed) ||
           cancelled_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool draining() const { return deadline_.load() != kNever; }
  [[nodiscard]] Ticks deadline() const { return deadline_.load(); }

 private:
  Ticks drain_;
  const std::atomic<bool>& cancelled_;
  std::atomic<unsigned> senders_;
  std::atomic<Ticks> latest_{0};
  std::atomic<Ticks> deadline_{kNever};
};

}  // namespace natxy::run
