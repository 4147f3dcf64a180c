#include "gateway/gateway.hpp"

#include <algorithm>
#include <utility>

namespace natxy::gateway {
namespace {

bool is_addressed_to(Octets frame, const Mac& mac) {
  return std::equal(mac.begin(), mac.end(), frame.begin());
}

IpAddress destination_of(Octets frame) {
  const auto* ip = frame.data() + kEthernetOctets;
  return read16(ip - 2) == kTypeIpv4 ? IpAddress::read_ipv4(ip + 16)
                                     : IpAddress::read_ipv6(ip + 24);
}

}  // namespace

Gateway::Gateway(const Config& config, const Links& links, Nanoseconds now_ns)
    : links_(links), record_{.directions = {}, .polls = {0, 0}}, router_(config) {
  configure(config, now_ns);
}

void Gateway::configure(const Config& config, Nanoseconds now_ns) {
  std::optional<Nat> nat;  // made first: if there is not enough memory, nothing has changed
  if (config.nat) nat.emplace(*config.nat);
  nat_ = std::move(nat);
  softwires_.reset();
  if (config.softwires) softwires_.emplace(*config.softwires);
  chains_.clear();
  neighbours_.clear();
  config_ = config;
  router_ = Router(config_);
  subscribers_ = Subscribers(config_);
  for (const auto side : kSides) {
    const auto i = index_of(side);
    neighbours_.emplace_back(side_config(side), links_.macs[i], store_, outboxes_[i]);
  }
  clear(now_ns);
}

// Returns the configuration of a side. On the outside of a NAT, the gateway also answers for the
// external addresses.
SideConfig Gateway::side_config(Side side) const {
  auto config = config_.sides[index_of(side)];
  if (!config_.nat || side == config_.nat->inside) return config;
  for (const auto& address : config_.nat->pool) config.addresses.push_back(address);
  return config;
}

void Gateway::clear(Nanoseconds now_ns) {
  for (auto& outbox : outboxes_) outbox.clear();
  at_work_ = {};
  for (auto& neighbours : neighbours_) neighbours.forget_waiting();
  for (auto& direction : record_.directions) direction.clear();
  record_.polls = PollRecord(now_ns, config_.idle_ns);
  record_.muted_ns = 0;
  muted_until_ns_ = 0;
  if (nat_) nat_->clear();
  make_chains();
}

void Gateway::mute(Nanoseconds for_ns, Nanoseconds now_ns) {
  muted_until_ns_ = now_ns + for_ns;
  record_.muted_ns += for_ns;
}

void Gateway::make_chains() {
  chains_.clear();
  for (const auto direction : kDirections) {
    chains_.emplace_back(config_.faults, direction,
                         FaultChain::Surroundings{.store = store_,
                                                  .record = record_of(direction),
                                                  .out = outbox(destination_side(direction)),
                                                  .subscribers = subscribers_,
                                                  .max_packet_octets = links_.mtu_bytes,
                                                  .since_ns = record_.polls.since_ns()});
  }
}

void Gateway::poll(Nanoseconds now_ns) {
  is_idle_ = !frames_came_;
  record_.polls.poll(now_ns, std::exchange(frames_came_, false));
  finish_work(now_ns);
  for (auto& chain : chains_) chain.advance(now_ns);
  if (nat_) nat_->sessions().advance(now_ns);
  for (const auto& neighbours : neighbours_) {
    if (neighbours.is_waiting()) return tick(now_ns);
  }
}

void Gateway::finish_work(Nanoseconds now_ns) {
  while (at_work_.has_due(now_ns)) {
    auto [due_ns, done] = at_work_.take();
    send_to(done.hop, std::move(done.frame), due_ns);
  }
}

Nanoseconds Gateway::sleep_ns() const {
  if (!is_idle_ || config_.sleep_ns == 0) return 0;
  const bool waits = !at_work_.is_empty() || std::ranges::any_of(chains_, [](const auto& chain) {
    return chain.is_waiting();
  }) || std::ranges::any_of(neighbours_, [](const auto& each) { return each.is_waiting(); });
  return waits ? 0 : config_.sleep_ns;
}

void Gateway::tick(Nanoseconds now_ns) {
  for (auto& neighbours : neighbours_) {
    for (const auto& frame : neighbours.tick(now_ns)) {
      record_of(frame->direction).count(Drop::kNoNeighbour);
    }
  }
}

void Gateway::receive(Side side, Octets frame, Nanoseconds now_ns) {
  frames_came_ = true;
  finish_work(now_ns);  // so that the times of the faults do not go backwards
  if (frame.size() < kEthernetOctets) return;
  const auto type = read16(frame.data() + 12);
  if (type == kTypeArp) {
    if (const auto message = parse_arp(frame)) hear(side, *message, now_ns);
  } else if (type == kTypeIpv4 || type == kTypeIpv6) {
    receive_ip(side, frame, now_ns);
  }
}

void Gateway::receive_ip(Side side, Octets frame, Nanoseconds now_ns) {
  if (!is_for_forwarding(side, frame)) {
    if (const auto message = parse_discovery(frame)) hear(side, *message, now_ns);
    return;
  }
  auto& record = record_of(direction_from(side));
  ++record.received;
  if (now_ns < muted_until_ns_) return record.count(Drop::kMute);
  if (frame.size() > FrameStore::kMaxOctets) return record.count(Drop::kMalformed);
  const auto octets = frame.subspan(kEthernetOctets);
  auto routed = Routed{.outcome = Outcome::drops(Drop::kMalformed), .hop = {}};
  if (read16(octets.data() - 2) == kTypeIpv4) {
    if (const auto packet = parse_ipv4(octets)) routed = route(side, *packet, now_ns);
  } else if (const auto packet = parse_ipv6(octets)) {
    const bool is_softwire = softwires_ && softwires_->takes(side, *packet);
    routed =
        is_softwire ? route_out_of_softwire(side, *packet, now_ns) : route(side, *packet, now_ns);
  }
  enter_softwire(side, routed);
  auto& [passing, reason, leaves_ns] = routed.outcome;
  if (!passing) return record.count(reason);
  passing->received_ns = now_ns;
  passing->direction = direction_from(side);
  if (leaves_ns > now_ns) {
    at_work_.put(leaves_ns, {.hop = routed.hop, .frame = std::move(passing)});
    return;
  }
  send_to(routed.hop, std::move(passing), now_ns);
}

// Routes the inner packet of a softwire. Its source address and port must be the subscriber's
// (RFC 7597, 8.1).
Routed Gateway::route_out_of_softwire(Side side, const Ipv6Packet& packet, Nanoseconds now_ns) {
  auto inner = parse_ipv4(packet.data());
  if (!inner) return Routed::drops(Drop::kMalformed);
  if (softwires_->tells_apart(packet.source)) {
    inner->softwire = packet.source;
    return route(side, *inner, now_ns);
  }
  const auto end = softwires_->far_end(inner->source, source_port(*inner));
  if (end != packet.source) return Routed::drops(Drop::kSoftwire);
  return route(side, *inner, now_ns);
}

// Puts an IPv4 packet that goes to the inside of the softwires into its softwire.
void Gateway::enter_softwire(Side from, Routed& routed) {
  auto& frame = routed.outcome.frame;
  if (!softwires_ || !frame || routed.hop.side != softwires_->inside()) return;
  if (read16(frame->octets + kEthernetOctets - 2) != kTypeIpv4) return;
  const auto end = routed.softwire ? routed.softwire : softwires_->far_end(*frame);
  const auto hop = end ? router_.hop(from, *end) : std::nullopt;
  if (!hop) {
    routed = Routed::drops(Drop::kNoRoute);
    return;
  }
  frame = softwires_->encapsulate(*frame, *end, store_);
  routed.hop = *hop;
}

template <typename Packet>
Routed Gateway::route(Side side, const Packet& packet, Nanoseconds now_ns) {
  if (nat_ && nat_->takes(side, packet)) return route_by_state(side, packet, now_ns);
  return router_.route(side, packet, store_);
}

// Routes a packet through the stateful translation. A packet without a route creates no connection.
template <typename Packet>
Routed Gateway::route_by_state(Side side, const Packet& packet, Nanoseconds now_ns) {
  const auto remote = nat_->remote_of(side, packet);
  if (remote && !router_.hop(side, *remote)) return Routed::drops(Drop::kNoRoute);
  if (hop_limit_of(packet) <= 1) return Routed::drops(Drop::kHopLimit);
  auto [outcome, destination] = nat_->translate(side, packet, now_ns, store_);
  if (!outcome.frame) return Routed::drops(outcome.reason);
  const auto hop = router_.hop(side, destination);
  if (!hop) return Routed::drops(Drop::kNoRoute);
  const bool enters = destination.is_ipv6 && read16(outcome.frame->octets + 12) == kTypeIpv4;
  return {.outcome = std::move(outcome),
          .hop = *hop,
          .softwire = enters ? std::optional(destination) : std::nullopt};
}

bool Gateway::is_in_softwire(Side side, Octets frame) const {
  if (!softwires_) return false;
  const auto packet = parse_ipv6(frame.subspan(kEthernetOctets));
  return packet && softwires_->takes(side, *packet);
}

// Returns whether the frame is to be forwarded: not for the gateway's own addresses, a multicast
// group or the link. The end of the softwires may be one of these addresses.
bool Gateway::is_for_forwarding(Side side, Octets frame) const {
  if (!is_addressed_to(frame, neighbours_[index_of(side)].own_mac())) return false;
  const bool is_ipv4 = read16(frame.data() + 12) == kTypeIpv4;
  if (frame.size() < kEthernetOctets + (is_ipv4 ? kIpv4Octets : kIpv6Octets)) return true;
  const auto destination = destination_of(frame);
  if (is_multicast(destination) || is_link_local(destination)) return false;
  if (nat_ && nat_->is_external(side, destination)) return true;
  if (is_in_softwire(side, frame)) return true;
  return std::ranges::none_of(neighbours_, [&](const auto& n) { return n.is_own(destination); });
}

void Gateway::hear(Side side, const NeighbourMessage& message, Nanoseconds now_ns) {
  auto& neighbours = neighbours_[index_of(side)];
  auto waited = neighbours.hear(message);
  for (auto& frame : waited) {
    enter_faults(side, *neighbours.find(message.sender), std::move(frame), now_ns);
  }
}

void Gateway::send_to(const Hop& hop, FramePtr frame, Nanoseconds now_ns) {
  auto& neighbours = neighbours_[index_of(hop.side)];
  if (const auto* mac = neighbours.find(hop.neighbour)) {
    return enter_faults(hop.side, *mac, std::move(frame), now_ns);
  }
  const auto homeless = neighbours.wait_for(hop.neighbour, std::move(frame), now_ns);
  if (homeless) record_of(homeless->direction).count(Drop::kNoNeighbour);
}

void Gateway::enter_faults(Side side, const Mac& to, FramePtr frame, Nanoseconds now_ns) {
  std::ranges::copy(to, frame->octets);
  std::ranges::copy(links_.macs[index_of(side)], frame->octets + to.size());
  auto& chain = chains_[index_of(frame->direction)];
  if (frame->length - kEthernetOctets > links_.mtu_bytes) return refused(*frame);
  chain.advance(now_ns);
  chain.enter(std::move(frame), now_ns);
}

void Gateway::sent(const Frame& frame, Nanoseconds now_ns) {
  if (frame.is_own) return;
  auto& record = record_of(frame.direction);
  ++record.forwarded;
  record.delay_ns.add(now_ns - frame.received_ns);
}

void Gateway::refused(const Frame& frame) {
  if (!frame.is_own) record_of(frame.direction).count(Drop::kTransmit);
}

Sessions* Gateway::sessions(Nanoseconds now_ns) {
  if (!nat_) return nullptr;
  nat_->sessions().advance(now_ns);
  return &nat_->sessions();
}

Record Gateway::record(Nanoseconds now_ns) {
  auto copy = record_;
  copy.taken_ns = now_ns;
  if (sessions(now_ns) != nullptr) copy.nat = nat_->record();
  return copy;
}

}  // namespace natxy::gateway
