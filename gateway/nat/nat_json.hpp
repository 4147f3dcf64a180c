// Reads the configuration of the stateful translation. Included only by files that read JSON.
#pragma once

#include "gateway/nat/nat_config.hpp"
#include "plumbing/json_value.hpp"

namespace natxy::gateway {

// Each throws ConfigError.
[[nodiscard]] NatConfig read_nat(plumbing::Object& object);
[[nodiscard]] bool is_nat_fault(const plumbing::Json& value);
[[nodiscard]] NatFault read_nat_fault(plumbing::Object& object);

}  // namespace natxy::gateway
