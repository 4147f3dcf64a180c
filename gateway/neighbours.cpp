#include "gateway/neighbours.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace natxy::gateway {

Neighbours::Neighbours(const SideConfig& config, const Mac& own_mac, FrameStore& store,
                       std::vector<FramePtr>& out)
    : own_mac_(own_mac),
      addresses_(config.addresses),
      given_(config.neighbours),
      store_(store),
      out_(out) {
  addresses_.push_back(link_local_of(own_mac));  // a router has one (RFC 4291, 2.8)
}

bool Neighbours::is_own(const IpAddress& address) const {
  return std::ranges::find(addresses_, address) != addresses_.end();
}

const Mac* Neighbours::find(const IpAddress& address) const {
  if (const auto found = given_.find(address); found != given_.end()) return &found->second;
  if (const auto found = learned_.find(address); found != learned_.end()) return &found->second;
  return nullptr;
}

FramePtr Neighbours::wait_for(const IpAddress& neighbour, FramePtr frame, Nanoseconds now_ns) {
  auto found = asked_.find(neighbour);
  if (found == asked_.end()) {
    if (asked_.size() >= kMaxAsked) return frame;
    found = asked_.emplace(neighbour, Asked{now_ns, now_ns, {}}).first;
    ask(neighbour);
  }
  auto& frames = found->second.frames;
  if (frames.size() >= kMaxWaitingFrames) return frame;
  frames.push_back(std::move(frame));
  return nullptr;
}

std::vector<FramePtr> Neighbours::hear(const NeighbourMessage& message) {
  if (message.is_request && is_own(message.target)) {
    out_.push_back(make_answer(store_, {own_mac_, message.target}, message));
  }
  if (!message.sender_mac || !is_of_interest(message)) return {};
  learned_[message.sender] = *message.sender_mac;
  const auto asked = asked_.extract(message.sender);
  return asked.empty() ? std::vector<FramePtr>{} : std::move(asked.mapped().frames);
}

// Returns whether to learn from the message: the sender asks for the gateway, or is already known
// or asked for (the merge of RFC 826; RFC 4861, 7.2).
bool Neighbours::is_of_interest(const NeighbourMessage& message) const {
  if (message.is_probe() || is_own(message.sender)) return false;
  if (message.is_request && is_own(message.target)) return true;
  return asked_.contains(message.sender) || learned_.contains(message.sender);
}

std::vector<FramePtr> Neighbours::tick(Nanoseconds now_ns) {
  std::vector<FramePtr> given_up;
  for (auto it = asked_.begin(); it != asked_.end();) {
    auto& [neighbour, asked] = *it;
    if (now_ns - asked.since_ns >= kGiveUp_ns) {
      std::ranges::move(asked.frames, std::back_inserter(given_up));
      it = asked_.erase(it);
      continue;
    }
    if (now_ns - asked.last_ns >= kAskAgain_ns) {
      asked.last_ns = now_ns;
      ask(neighbour);
    }
    ++it;
  }
  return given_up;
}

void Neighbours::ask(const IpAddress& neighbour) {
  out_.push_back(make_request(store_, {own_mac_, source_for(neighbour)}, neighbour));
}

// Returns the gateway's address with the longest common prefix with the neighbour's; 0.0.0.0 if it
// has no IPv4 address (RFC 5227, 2.1.1).
IpAddress Neighbours::source_for(const IpAddress& neighbour) const {
  auto best = IpAddress::ipv4(0);
  bool is_found = false;
  for (const auto& own : addresses_) {
    if (own.is_ipv6 != neighbour.is_ipv6) continue;
    if (is_found && (own.value ^ neighbour.value) >= (best.value ^ neighbour.value)) continue;
    best = own;
    is_found = true;
  }
  return best;
}

}  // namespace natxy::gateway
