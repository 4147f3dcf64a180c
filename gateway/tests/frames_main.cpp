// natxy-gateway-frames: the gateway without ports, for tests in any language.
//
// Standard input: the configuration as one line of JSON, then lines `TIME_NS SIDE HEX` (a frame
// that arrives) or `TIME_NS poll`. Standard output: a line `TIME_NS SIDE HEX` for each frame that
// leaves, with the time of the input line that released it, then a line with the record. The MAC
// addresses of the ports are 02:00:00:00:00:0a (left) and 02:00:00:00:00:0b (right); the MTU is
// 2000. The frames have no VLAN tags, which ports remove and add.
#include <cstdint>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "gateway/gateway.hpp"
#include "gateway/json.hpp"

namespace natxy::gateway {
namespace {

constexpr Links kLinks{.macs = {{{2, 0, 0, 0, 0, 0x0a}, {2, 0, 0, 0, 0, 0x0b}}}, .mtu_bytes = 2000};

std::vector<std::uint8_t> from_hex(const std::string& hex) {
  std::vector<std::uint8_t> octets;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    octets.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return octets;
}

void print(Nanoseconds now_ns, Side side, Octets frame) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string hex;
  for (const auto octet : frame) {
    hex += kDigits[octet >> 4U];
    hex += kDigits[octet & 15U];
  }
  std::cout << now_ns << ' ' << name_of(side) << ' ' << hex << '\n';
}

void flush(Gateway& gateway, Nanoseconds now_ns) {
  for (const auto side : kSides) {
    for (const auto& frame : gateway.outbox(side)) {
      print(now_ns, side, frame->view());
      gateway.sent(*frame, now_ns);
    }
    gateway.outbox(side).clear();
  }
}

void play(Gateway& gateway, const std::string& line) {
  std::istringstream words(line);
  Nanoseconds now_ns = 0;
  std::string side;
  std::string hex;
  words >> now_ns >> side >> hex;
  if (side == "poll") {
    gateway.poll(now_ns);
  } else {
    gateway.receive(side == "left" ? Side::kLeft : Side::kRight, from_hex(hex), now_ns);
  }
  flush(gateway, now_ns);
}

int run() {
  std::string line;
  std::getline(std::cin, line);
  Gateway gateway(parse_config(line), kLinks, 0);
  while (std::getline(std::cin, line)) play(gateway, line);
  std::cout << record_event(gateway.record(0)) << '\n';
  return 0;
}

}  // namespace
}  // namespace natxy::gateway

int main() {
  try {
    return natxy::gateway::run();
  } catch (const std::exception& error) {
    std::cout << natxy::gateway::error_event(error.what()) << '\n';
    return 2;
  }
}
