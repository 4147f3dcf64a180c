// Reads a trial spec from JSON that has been parsed. Included only by spec_json.cpp and
// request_json.cpp.
#pragma once

#include "plumbing/json_value.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::spec {

// Throws SpecError. Error paths start with the name of a member of the spec.
[[nodiscard]] TrialSpec read_spec(const plumbing::Json& json);

}  // namespace natxy::spec
