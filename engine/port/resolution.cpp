#include "port/resolution.hpp"

#include <algorithm>
#include <utility>

namespace natxy::port {

Resolution::Resolution(std::vector<NeighbourQuestion> questions)
    : questions_(std::move(questions)) {
  for (const auto& question : questions_) next_hops_[question.next_hop];
  open_ = next_hops_.size();
}

std::vector<NeighbourFrame> Resolution::open_questions(const Mac& own) const {
  std::vector<NeighbourFrame> frames;
  for (const auto& [from, next_hop] : questions_) {
    if (next_hops_.at(next_hop)) continue;
    frames.push_back(question({.address = from, .mac = own}, next_hop));
  }
  return frames;
}

void Resolution::take(const NeighbourMessage& message) {
  if (message.type != NeighbourMessage::Type::kAnswer) return;
  const auto next_hop = next_hops_.find(message.target);
  if (next_hop == next_hops_.end()) return;
  if (!next_hop->second) --open_;
  next_hop->second = message.mac;
}

NextHopMacs Resolution::macs() const {
  NextHopMacs macs;
  for (const auto& [address, mac] : next_hops_) {
    (address.version == spec::IpVersion::k4 ? macs.ipv4 : macs.ipv6) = mac;
  }
  return macs;
}

std::string Resolution::complaint() const {
  const auto open = std::ranges::find_if(
      questions_, [this](const auto& question) { return !next_hops_.at(question.next_hop); });
  if (open == questions_.end()) return {};
  const bool arp = open->next_hop.version == spec::IpVersion::k4;
  const auto others =
      std::ranges::count(questions_, open->next_hop, &NeighbourQuestion::next_hop) - 1;
  return "next hop " + to_text(open->next_hop) + " did not answer " +
         (arp ? "ARP requests" : "Neighbour Solicitations") + " from " + to_text(open->from) +
         (others > 0 ? " and " + std::to_string(others) + " more" : "");
}

}  // namespace natxy::port
