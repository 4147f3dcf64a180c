// The clock with which a port stamps what arrives, held against the time stamp counter: of unknown
// rate, drifting, read over a bus. Of one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "run/clock.hpp"

namespace natxy::port {

class PortClock {
 public:
  // What it shows now; absent: it cannot be read.
  using Read = std::function<std::optional<std::uint64_t>()>;

  // Absent where it cannot be read, or stands still.
  [[nodiscard]] static std::optional<PortClock> of(Read read, run::TickRate ticks);

  // Waits until readings are far enough apart to tell its rate.
  void settle();
  // Another reading where one is due: between readings the clock is extrapolated.
  void tend(run::Ticks now) {
    if (now >= due_) [[unlikely]]
      read();
  }
  // When the clock showed this.
  [[nodiscard]] run::Ticks ticks_at(std::uint64_t shown) const {
    const auto since = static_cast<double>(static_cast<std::int64_t>(shown - last_.shown));
    return last_.ticks + static_cast<run::Ticks>(static_cast<std::int64_t>(since * rate_));
  }
  // How far ticks_at() may have been from the truth since this was asked last; reads it.
  [[nodiscard]] run::Ticks take_error();

 private:
  struct Reading {
    std::uint64_t shown;
    run::Ticks ticks;  // the middle of the time in which it was read
    run::Ticks error;  // half of that time
  };

  PortClock(Read read, run::TickRate ticks, const Reading& first);

  static std::optional<Reading> read_once(const Read& read);
  void read();
  void fit(const Reading& reading);
  [[nodiscard]] run::Ticks since_base() const { return last_.ticks - base_.ticks; }

  Read read_;
  run::TickRate ticks_;
  // The rate is between base_ and last_. The next base is a reading that is younger.
  Reading base_;
  Reading next_base_;
  Reading last_;
  double rate_ = 0;  // ticks a unit of the clock
  run::Ticks due_ = 0;
  run::Ticks error_ = 0;
};

}  // namespace natxy::port
