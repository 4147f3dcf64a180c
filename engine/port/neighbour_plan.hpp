// What a trial asks of the neighbours on one side: for which addresses the tester answers, and from
// which of them it asks for which next hop.
#pragma once

#include <vector>

#include "port/address_set.hpp"
#include "port/ip_address.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::port {

// The gateway must know as many of the tester's addresses as a neighbour table takes (it has one
// for each IP version); a wider range is routed to the tester.
inline constexpr std::size_t kMaxQuestions = 256;  // of a next hop

struct NeighbourQuestion {
  IpAddress from;
  IpAddress next_hop;
  friend auto operator<=>(const NeighbourQuestion&, const NeighbourQuestion&) = default;
};

struct NeighbourPlan {
  AddressSet own;
  std::vector<NeighbourQuestion> questions;  // none where the next hop's MAC is given
};

[[nodiscard]] NeighbourPlan neighbour_plan(const spec::TrialSpec& spec, spec::Side side);

}  // namespace natxy::port
