// The state of the neighbour resolution of one side: open questions and answers. Does not use DPDK:
// the caller sends and receives the frames.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "port/neighbour_message.hpp"
#include "port/neighbour_plan.hpp"

namespace natxy::port {

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
