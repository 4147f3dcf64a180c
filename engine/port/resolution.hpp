// The neighbour resolution of one side: its plan (the addresses that the tester answers for, and
// the questions that it asks), and its state. Does not use DPDK: the caller sends and receives the
// frames.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "port/ip_address.hpp"
#include "port/neighbour_message.hpp"
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

// The next hop's MAC address for each IP version; absent if no frames of this version leave there.
struct NextHopMacs {
  std::optional<Mac> ipv4;
  std::optional<Mac> ipv6;
};

class Resolution {
 public:
  explicit Resolution(std::vector<NeighbourQuestion> questions);

  // Returns all questions whose next hop has not answered yet.
  [[nodiscard]] std::vector<NeighbourFrame> open_questions(const Mac& own) const;
  void take(const NeighbourMessage& message);
  [[nodiscard]] bool done() const { return open_ == 0; }
  [[nodiscard]] NextHopMacs macs() const;
  [[nodiscard]] const std::vector<NeighbourQuestion>& questions() const { return questions_; }

  // Describes the first open question: "next hop 198.18.0.1 did not answer ARP requests from
  // 198.18.0.2".
  [[nodiscard]] std::string complaint() const;

 private:
  std::vector<NeighbourQuestion> questions_;
  std::map<IpAddress, std::optional<Mac>> next_hops_;
  std::size_t open_ = 0;
};

}  // namespace natxy::port
