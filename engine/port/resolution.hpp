// The state of finding the next hops of one side: what is to be asked, what has been answered. No
// DPDK here: the caller moves the frames.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "port/neighbour_message.hpp"
#include "port/neighbour_plan.hpp"

namespace natxy::port {

// Where frames of each IP version go; absent: nothing of that version leaves there.
struct NextHopMacs {
  std::optional<Mac> ipv4;
  std::optional<Mac> ipv6;
};

class Resolution {
 public:
  explicit Resolution(std::vector<NeighbourQuestion> questions);

  // Every question, as often as this is called, until its next hop has answered.
  [[nodiscard]] std::vector<NeighbourFrame> open_questions(const Mac& own) const;
  void take(const NeighbourMessage& message);
  [[nodiscard]] bool done() const { return open_ == 0; }
  [[nodiscard]] NextHopMacs macs() const;
  [[nodiscard]] const std::vector<NeighbourQuestion>& questions() const { return questions_; }

  // "next hop 198.18.0.1 did not answer ARP requests from 198.18.0.2": the first that is open.
  [[nodiscard]] std::string complaint() const;

 private:
  std::vector<NeighbourQuestion> questions_;
  std::map<IpAddress, std::optional<Mac>> next_hops_;
  std::size_t open_ = 0;
};

}  // namespace natxy::port
