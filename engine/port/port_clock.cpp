#include "port/port_clock.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

namespace natxy::port {
namespace {

using run::Ticks;
using run::TscClock;

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kReadEveryNs = 100 * kMillisecond;
constexpr std::uint64_t kSettledNs = 100 * kMillisecond;
constexpr std::uint64_t kBaseNs = 4000 * kMillisecond;  // 1 us of a bus is 0.25 ppm of it
constexpr std::uint64_t kStepNs = kMillisecond;         // a larger step: the clock was set
constexpr unsigned kTries = 3;  // the quickest reading is the most exact one

Ticks apart(Ticks a, Ticks b) {
  return a > b ? a - b : b - a;
}

}  // namespace

std::optional<PortClock::Reading> PortClock::read_once(const Read& read) {
  std::optional<Reading> best;
  for (unsigned i = 0; i < kTries; ++i) {
    const auto before = TscClock::now();
    const auto shown = read();
    const auto error = (TscClock::now() - before + 1) / 2;
    if (!shown) return std::nullopt;
    if (best && best->error <= error) continue;
    best = Reading{.shown = *shown, .ticks = before + error, .error = error};
  }
  return best;
}

std::optional<PortClock> PortClock::of(Read read, run::TickRate ticks) {
  const auto first = read_once(read);
  if (!first) return std::nullopt;
  PortClock clock(std::move(read), ticks, *first);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  clock.read();
  if (clock.rate_ == 0 || clock.error_ == run::kNever) return std::nullopt;
  return clock;
}

PortClock::PortClock(Read read, run::TickRate ticks, const Reading& first)
    : read_(std::move(read)), ticks_(ticks), base_(first), next_base_(first), last_(first) {}

void PortClock::settle() {
  while (since_base() < ticks_.from_ns(kSettledNs) && error_ != run::kNever) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    read();
  }
}

Ticks PortClock::take_error() {
  read();
  return std::exchange(error_, 0);
}

void PortClock::read() {
  due_ = TscClock::now() + ticks_.from_ns(kReadEveryNs);
  if (const auto reading = read_once(read_)) {
    fit(*reading);
  } else {
    error_ = run::kNever;
  }
}

// Adds a reading to the fit. The error includes one unit of the clock, because a stamp is as coarse
// as the clock.
void PortClock::fit(const Reading& reading) {
  const auto off = rate_ == 0 ? 0 : apart(ticks_at(reading.shown), reading.ticks);
  const auto unit = static_cast<Ticks>(std::ceil(rate_));
  error_ = std::max(error_, off + reading.error + unit);
  last_ = reading;
  if (off > ticks_.from_ns(kStepNs)) {  // the clock was set: earlier readings are of no use
    base_ = next_base_ = reading;
    return;
  }
  if (reading.shown != base_.shown) {
    rate_ = static_cast<double>(since_base()) /
            static_cast<double>(static_cast<std::int64_t>(reading.shown - base_.shown));
  }
  if (last_.ticks - next_base_.ticks >= ticks_.from_ns(kBaseNs)) {
    base_ = std::exchange(next_base_, reading);
  }
}

}  // namespace natxy::port
