#include "port/machine.hpp"

#include <sys/utsname.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <thread>

#include "run/clock.hpp"

namespace natxy::port {
namespace {

constexpr std::uint64_t kApartNs = 200'000'000;
constexpr int kAttempts = 20;

std::uint64_t raw_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// Returns the value of the first line "key : value", or an empty string.
std::string value_of(const std::string& key, const std::string& file) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    const auto colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    return colon + 2 <= line.size() ? line.substr(colon + 2) : "";
  }
  return {};
}

}  // namespace

std::string cpu_model(const std::string& cpuinfo) {
  const auto model = value_of("model name", cpuinfo);
  return model.empty() ? "unknown" : model;
}

bool tsc_invariant(const std::string& cpuinfo) {
#if defined(__aarch64__)
  static_cast<void>(cpuinfo);
  return true;  // the generic timer's rate is fixed by the architecture
#else
  const auto flags = " " + value_of("flags", cpuinfo) + " ";
  return flags.find(" constant_tsc ") != std::string::npos &&
         flags.find(" nonstop_tsc ") != std::string::npos;
#endif
}

std::string kernel() {
  utsname name{};
  uname(&name);
  return std::string(name.sysname) + " " + name.release;
}

TscRate::TscRate() : first_(read()) {}

// Returns the reading for which the two reads of the counter are closest together, so that least
// time passed between counter and clock.
TscRate::Reading TscRate::read() {
  Reading best{};
  auto closest = ~std::uint64_t{0};
  for (int i = 0; i < kAttempts; ++i) {
    const auto before = run::TscClock::now();
    const auto ns = raw_ns();
    const auto width = run::TscClock::now() - before;
    if (width >= closest) continue;
    closest = width;
    best = {.ticks = before + width / 2, .ns = ns};
  }
  return best;
}

std::uint64_t TscRate::hz() const {
  const auto passed = raw_ns() - first_.ns;
  if (passed < kApartNs) std::this_thread::sleep_for(std::chrono::nanoseconds(kApartNs - passed));
  const auto last = read();
  const auto ticks = static_cast<double>(last.ticks - first_.ticks);
  return static_cast<std::uint64_t>(
      std::llround(ticks * 1e9 / static_cast<double>(last.ns - first_.ns)));
}

}  // namespace natxy::port
