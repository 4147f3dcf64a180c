// The error of a trial spec that is not valid; the message starts with the member's path.
#pragma once

#include "plumbing/json_error.hpp"

namespace natxy::spec {

using SpecError = plumbing::JsonError;

}  // namespace natxy::spec
