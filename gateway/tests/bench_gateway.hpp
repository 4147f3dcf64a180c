// A gateway with known neighbours and a clock that the test sets.
#pragma once

#include <string>
#include <vector>

#include "gateway/gateway.hpp"
#include "gateway/json.hpp"
#include "gateway/tests/frame_maker.hpp"

namespace natxy::gateway::test {

inline constexpr Nanoseconds kMillisecond = 1'000'000;

inline constexpr Links kLinks{.macs = {kLeftMac, kRightMac}, .mtu_bytes = 1500};

// Returns the default configuration with all neighbours and these faults.
inline Config config_with(const std::string& faults, const std::string& more = "") {
  const std::string left =
      R"({"198.18.0.2": "02:00:00:00:00:01", "2001:2::2": "02:00:00:00:00:01"})";
  const std::string right =
      R"({"198.19.0.2": "02:00:00:00:00:02", "2001:2:0:8000::2": "02:00:00:00:00:02"})";
  return parse_config(R"({"left": {"neighbours": )" + left + R"(}, "right": {"neighbours": )" +
                      right + R"(}, "faults": [)" + faults + "]" + more + "}");
}

struct Departure {
  Nanoseconds at_ns;
  Side side;
  Seen frame;
};

class BenchGateway {
 public:
  explicit BenchGateway(const Config& config) : gateway_(config, kLinks, 0) {}

  Gateway& gateway() { return gateway_; }
  std::vector<Departure>& departures() { return departures_; }
  const DirectionRecord& forward() { return record().of(Direction::kForward); }
  const Record& record() {
    record_ = gateway_.record(now_ns_);
    return *record_;
  }

  void receive(Side side, const Bytes& frame, Nanoseconds now_ns) {
    now_ns_ = now_ns;
    gateway_.receive(side, frame, now_ns);
    flush();
  }
  // Receives frames of the forward direction, one per step. The first octet of their data counts
  // them from 1.
  void receive_row(unsigned count, Nanoseconds step_ns) {
    for (unsigned i = 1; i <= count; ++i) {
      receive(Side::kLeft, make_udp({.first_octet = static_cast<std::uint8_t>(i)}), i * step_ns);
    }
  }
  void poll(Nanoseconds now_ns) {
    now_ns_ = now_ns;
    gateway_.poll(now_ns);
    flush();
  }
  // Polls often enough for exact departure times.
  void poll_until(Nanoseconds end_ns, Nanoseconds step_ns) {
    while (now_ns_ + step_ns <= end_ns) poll(now_ns_ + step_ns);
  }
  [[nodiscard]] std::vector<unsigned> order() const {
    std::vector<unsigned> numbers;
    numbers.reserve(departures_.size());
    for (const auto& departure : departures_) numbers.push_back(departure.frame.first_octet());
    return numbers;
  }

 private:
  void flush() {
    for (const auto side : kSides) {
      for (const auto& frame : gateway_.outbox(side)) {
        const auto octets = frame->view();
        departures_.push_back({now_ns_, side, Seen(Bytes(octets.begin(), octets.end()))});
        gateway_.sent(*frame, now_ns_);
      }
      gateway_.outbox(side).clear();
    }
  }

  Gateway gateway_;
  Nanoseconds now_ns_ = 0;
  std::vector<Departure> departures_;
  std::optional<Record> record_;
};

[[nodiscard]] inline std::uint64_t dropped(BenchGateway& bench, Drop reason) {
  return bench.forward().dropped[index_of(reason)];
}

// Takes the outer IPv6 header of a softwire away.
inline Seen inner_of(const Seen& outer) {
  auto frame = outer.frame;
  const auto at = frame.begin() + kEthernetOctets;
  frame.erase(at, at + kIpv6Octets);
  write16(frame.data() + 12, kTypeIpv4);
  return Seen(std::move(frame));
}

}  // namespace natxy::gateway::test
