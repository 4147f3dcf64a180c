// Converts the time stamps of a port to ticks of the time stamp counter. The port's clock has an
// unknown rate, drifts, and is read over a bus. May be used by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "run/clock.hpp"

namespace natxy::port {

class PortClock {
 public:
  // Reads the clock; absent if this fails.
  using Read = std::function<std::optional<std::uint64_t>()>;

  // Makes a PortClock; absent if the clock cannot be read or stands still.
  [[nodiscard]] static std::optional<PortClock> of(Read read, run::TickRate ticks);

  // Waits until the readings are far enough apart to determine the rate.
  void settle();
  // Reads the clock if a reading is due. Between readings, the clock is extrapolated.
  void tend(run::Ticks now) {
    if (now >= due_) [[unlikely]]
      read();
  }
  // Returns when the clock showed this value.
  [[nodiscard]] run::Ticks ticks_at(std::uint64_t shown) const {
    const auto since = static_cast<double>(static_cast<std::int64_t>(shown - last_.shown));
    return last_.ticks + static_cast<run::Ticks>(static_cast<std::int64_t>(since * rate_));
  }
  // Reads the clock, and returns the largest possible error of ticks_at() since the last call.
  [[nodiscard]] run::Ticks take_error();

 private:
  struct Reading {
    std::uint64_t shown;
    run::Ticks ticks;  // the middle of the time that the reading took
    run::Ticks error;  // half of this time
  };

  PortClock(Read read, run::TickRate ticks, const Reading& first);

  static std::optional<Reading> read_once(const Read& read);
  void read();
  void fit(const Reading& reading);
  [[nodiscard]] run::Ticks since_base() const { return last_.ticks - base_.ticks; }

  Read read_;
  run::TickRate ticks_;
  // The rate is measured from base_ to last_. The next base is a later reading.
  Reading base_;
  Reading next_base_;
  Reading last_;
  double rate_ = 0;  // ticks per unit of the clock
  run::Ticks due_ = 0;
  run::Ticks error_ = 0;
};

}  // namespace natxy::port
