// Prints the reasons for which a trial is invalid, where a test fails.
#pragma once

#include <ostream>

#include "spec/names.hpp"
#include "spec/trial_result.hpp"

namespace natxy::spec {

inline std::ostream& operator<<(std::ostream& out, const Reason& of) {
  out << name_of(kReasonCodes, of.code) << " " << of.where;
  for (const auto& [name, value] : of.facts) out << " " << name << "=" << value;
  return out;
}

}  // namespace natxy::spec
