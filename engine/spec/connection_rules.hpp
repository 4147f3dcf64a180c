// The rules for the streams of a stateful trial (RFC 9693).
#pragma once

#include "spec/trial_spec.hpp"

namespace natxy::spec {

// Checks that one stream of the first phase establishes connections and that streams of later
// phases use the same connections. Throws SpecError.
void check_connections(const TrialSpec& spec);

}  // namespace natxy::spec
