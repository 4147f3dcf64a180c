// The requests to the engine; each is one line.
#pragma once

#include <cstdint>
#include <variant>

#include "spec/trial_spec.hpp"

namespace natxy::spec {

struct TrialRequest {
  std::uint64_t id = 0;
  TrialSpec spec;
};
struct CancelRequest {};
struct QuitRequest {};

using Request = std::variant<TrialRequest, CancelRequest, QuitRequest>;

}  // namespace natxy::spec
