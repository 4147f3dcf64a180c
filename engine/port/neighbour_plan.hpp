// The plan of neighbour resolution on one side: the addresses that the tester answers for, and the
// questions that it asks.
#pragma once

#include <vector>

#include "port/address_set.hpp"
#include "port/ip_address.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::port {

// The tester asks from each of its addresses, so that the gateway learns them, but only from as
// many as a neighbour table holds (one table per IP version). A wider range is routed to the
// tester.
inline constexpr std::size_t kMaxQuestions = 256;  // per next hop

struct NeighbourQuestion {
  IpAddress from;
  IpAddress next_hop;
  friend auto operator<=>(const NeighbourQuestion&, const NeighbourQuestion&) = default;
};

struct NeighbourPlan {
  AddressSet own;
  std::vector<NeighbourQuestion> questions;  // empty if the next hop's MAC address is given
};

[[nodiscard]] NeighbourPlan neighbour_plan(const spec::TrialSpec& spec, spec::Side side);

}  // namespace natxy::port
