// ICMP errors that came to one of the tester's ports, as a result has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/trial_spec.hpp"

namespace natxy::spec {

// Errors that are alike, and what one of them looked like.
struct IcmpErrorCount {
  IpVersion ip_version = IpVersion::k4;
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  std::uint32_t mtu = 0;  // 0: it names none; JSON: null
  std::string source;     // who says it
  std::uint64_t count = 0;
  std::string example_hex;
};

struct IcmpErrors {
  std::vector<IcmpErrorCount> listed;  // about the trial's own frames
  std::uint64_t unlisted = 0;          // about them too, but of more sorts than are told apart
  std::uint64_t of_others = 0;         // that quote nothing that this port sends in the trial
};

}  // namespace natxy::spec
