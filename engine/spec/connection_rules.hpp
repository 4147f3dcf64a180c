// What streams of a trial of connections must be together (RFC 9693).
#pragma once

#include "spec/trial_spec.hpp"

namespace natxy::spec {

// Throws SpecError: one stream of the first phase establishes, streams of later phases use the same
// connections.
void check_connections(const TrialSpec& spec);

}  // namespace natxy::spec
