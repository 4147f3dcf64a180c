// Reads one kind of traffic of a spec.
#pragma once

#include "plumbing/json_value.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::spec {

// Throws SpecError.
[[nodiscard]] Traffic read_traffic(plumbing::Object& object);

}  // namespace natxy::spec
