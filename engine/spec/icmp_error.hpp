// ICMP errors that arrived at one of the tester's ports, as a result lists them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/trial_spec.hpp"

namespace natxy::spec {

// Equal ICMP errors: their count and one example.
struct IcmpErrorCount {
  IpVersion ip_version = IpVersion::k4;
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  std::uint32_t mtu = 0;  // 0 (JSON: null) if the error names no MTU
  std::string source;     // the sender's address
  std::uint64_t count = 0;
  std::string example_hex;
};

struct IcmpErrors {
  std::vector<IcmpErrorCount> listed;  // errors about frames of the trial
  std::uint64_t unlisted = 0;          // further ones, beyond the number of sorts that are listed
  std::uint64_t of_others = 0;         // errors that quote no frame that this port sends
};

}  // namespace natxy::spec
