// Reads the faults of a configuration, apart from those of the stateful translation.
#pragma once

#include "gateway/config.hpp"
#include "plumbing/json_value.hpp"

namespace natxy::gateway {

// Throws ConfigError.
[[nodiscard]] Fault read_fault(plumbing::Object& object);

}  // namespace natxy::gateway
