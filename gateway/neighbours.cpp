#include "gateway/neighbours.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "gateway/packet.hpp"

namespace natxy::gateway {
namespace {

constexpr std::size_t kArpOctets = 28;
constexpr std::uint64_t kArpEthernetIpv4 = 0x0001'0800'0604;  // hardware, protocol, their lengths
constexpr std::size_t kDiscoveryOctets = 24;                  // without options
constexpr std::size_t kLinkLayerOptionOctets = 8;
constexpr std::uint8_t kSolicitation = 135;
constexpr std::uint8_t kAdvertisement = 136;
constexpr std::uint8_t kSourceLinkLayer = 1;
constexpr std::uint8_t kTargetLinkLayer = 2;

Mac read_mac(const std::uint8_t* from) {
  Mac mac{};
  std::copy_n(from, mac.size(), mac.begin());
  return mac;
}

// The options of a message (RFC 4861, 4.6.1). A message with invalid options is ignored (7.1.1).
struct Options {
  bool is_valid = true;
  std::optional<Mac> link_layer;
};

Options read_options(Octets rest, std::uint8_t type) {
  Options options;
  while (!rest.empty()) {
    const std::size_t octets = rest.size() < 2 ? 0 : rest[1] * std::size_t{8};
    if (octets == 0 || octets > rest.size()) return {.is_valid = false, .link_layer = {}};
    if (rest[0] == type) options.link_layer = read_mac(rest.data() + 2);
    rest = rest.subspan(octets);
  }
  return options;
}

std::uint64_t pseudo_header_sum(const Ipv6Packet& packet) {
  return sum_of(packet.source) + sum_of(packet.destination) + kIcmp6 + packet.data().size();
}

FramePtr make_arp(FrameStore& store, const Speaker& speaker, const NeighbourMessage& said,
                  const Mac& to) {
  auto frame = store.take(kEthernetOctets + kArpOctets);
  frame->is_own = true;
  auto* at = frame->octets;
  std::ranges::copy(to, at);
  std::ranges::copy(speaker.mac, at + 6);
  write16(at + 12, kTypeArp);
  auto* arp = at + kEthernetOctets;
  write32(arp, kArpEthernetIpv4 >> 16U);
  write16(arp + 4, kArpEthernetIpv4 & 0xffffU);
  write16(arp + 6, said.is_request ? 1 : 2);
  std::ranges::copy(speaker.mac, arp + 8);
  speaker.address.write(arp + 14);
  std::ranges::copy(said.sender_mac.value_or(Mac{}), arp + 18);
  said.target.write(arp + 24);
  return frame;
}

// The contents of a Solicitation or an Advertisement.
struct Discovery {
  std::uint8_t type;
  std::uint32_t flags;
  IpAddress target;
  IpAddress to;
  Mac to_mac;
};

FramePtr make_discovery(FrameStore& store, const Speaker& speaker, const Discovery& discovery) {
  constexpr auto kPayload = kDiscoveryOctets + kLinkLayerOptionOctets;
  auto frame = store.take(kEthernetOctets + kIpv6Octets + kPayload);
  frame->is_own = true;
  auto* ip = frame->octets + kEthernetOctets;
  std::ranges::copy(discovery.to_mac, frame->octets);
  std::ranges::copy(speaker.mac, frame->octets + 6);
  write16(ip - 2, kTypeIpv6);
  write32(ip, 6U << 28U);
  write16(ip + 4, kPayload);
  ip[6] = kIcmp6;
  ip[7] = 255;
  speaker.address.write(ip + 8);
  discovery.to.write(ip + 24);
  auto* icmp = ip + kIpv6Octets;
  icmp[0] = discovery.type;
  icmp[1] = 0;
  write16(icmp + 2, 0);
  write32(icmp + 4, discovery.flags);
  discovery.target.write(icmp + 8);
  icmp[24] = discovery.type == kSolicitation ? kSourceLinkLayer : kTargetLinkLayer;
  icmp[25] = 1;
  std::ranges::copy(speaker.mac, icmp + 26);
  const auto sum =
      sum_of(speaker.address) + sum_of(discovery.to) + kIcmp6 + kPayload + sum_of({icmp, kPayload});
  write16(icmp + 2, checksum_of(sum));
  return frame;
}

// Returns the MAC address of an IPv6 multicast group (RFC 2464, 7).
Mac multicast_mac(const IpAddress& group) {
  Mac mac{0x33, 0x33};
  write32(mac.data() + 2, static_cast<std::uint32_t>(group.value));
  return mac;
}

// Returns the solicited-node multicast address (RFC 4291, 2.7.1).
IpAddress solicited_node(const IpAddress& target) {
  const auto prefix = Uint128{0xff02'0000'0000'0000U} << 64U | Uint128{0x1'ff00'0000U};
  return IpAddress::ipv6(prefix | (target.value & 0xffffffU));
}

IpAddress all_nodes() {
  return IpAddress::ipv6((Uint128{0xff02U} << 112U) | 1U);
}

}  // namespace

std::optional<NeighbourMessage> parse_arp(Octets frame) {
  if (frame.size() < kEthernetOctets + kArpOctets) return std::nullopt;
  const auto* arp = frame.data() + kEthernetOctets;
  const auto operation = read16(arp + 6);
  if (read64(arp) >> 16U != kArpEthernetIpv4 || operation < 1 || operation > 2) return std::nullopt;
  const auto sender = IpAddress::read_ipv4(arp + 14);
  const bool is_request = operation == 1;
  return NeighbourMessage{.is_request = is_request,
                          .sender = sender,
                          .sender_mac = read_mac(arp + 8),
                          .frame_source = read_mac(frame.data() + 6),
                          .target = is_request ? IpAddress::read_ipv4(arp + 24) : sender};
}

std::optional<NeighbourMessage> parse_discovery(Octets frame) {
  if (frame.size() < kEthernetOctets) return std::nullopt;
  const auto packet = parse_ipv6(frame.subspan(kEthernetOctets));
  if (!packet || packet->next_header != kIcmp6 || packet->hop_limit != 255) return std::nullopt;
  const auto data = packet->data();
  if (data.size() < kDiscoveryOctets || data[1] != 0) return std::nullopt;
  const bool is_request = data[0] == kSolicitation;
  if (!is_request && data[0] != kAdvertisement) return std::nullopt;
  if (checksum_of(sum_of(data) + pseudo_header_sum(*packet)) != 0) return std::nullopt;
  const auto options = read_options(data.subspan(kDiscoveryOctets),
                                    is_request ? kSourceLinkLayer : kTargetLinkLayer);
  const auto target = IpAddress::read_ipv6(data.data() + 8);
  if (!options.is_valid || is_multicast(target)) return std::nullopt;
  return NeighbourMessage{.is_request = is_request,
                          .sender = is_request ? packet->source : target,
                          .sender_mac = options.link_layer,
                          .frame_source = read_mac(frame.data() + 6),
                          .target = target};
}

FramePtr make_request(FrameStore& store, const Speaker& speaker, const IpAddress& target) {
  if (!target.is_ipv6) {
    return make_arp(
        store, speaker,
        {.is_request = true, .sender = {}, .sender_mac = {}, .frame_source = {}, .target = target},
        kBroadcast);
  }
  const auto group = solicited_node(target);
  return make_discovery(store, speaker,
                        {.type = kSolicitation,
                         .flags = 0,
                         .target = target,
                         .to = group,
                         .to_mac = multicast_mac(group)});
}

FramePtr make_answer(FrameStore& store, const Speaker& speaker, const NeighbourMessage& request) {
  const auto to_mac = request.sender_mac.value_or(request.frame_source);
  if (!request.target.is_ipv6) {
    return make_arp(store, speaker,
                    {.is_request = false,
                     .sender = {},
                     .sender_mac = to_mac,
                     .frame_source = {},
                     .target = request.sender},
                    to_mac);
  }
  constexpr std::uint32_t kRouter = 1U << 31U;
  constexpr std::uint32_t kSolicited = 1U << 30U;
  constexpr std::uint32_t kOverride = 1U << 29U;
  const bool is_probe = request.is_probe();  // RFC 4861, 7.2.4: answered to all nodes
  const auto to = is_probe ? all_nodes() : request.sender;
  return make_discovery(store, speaker,
                        {.type = kAdvertisement,
                         .flags = kRouter | kOverride | (is_probe ? 0 : kSolicited),
                         .target = request.target,
                         .to = to,
                         .to_mac = is_probe ? multicast_mac(to) : to_mac});
}

IpAddress link_local_of(const Mac& mac) {
  const std::array<std::uint8_t, 8> identifier{
      static_cast<std::uint8_t>(mac[0] ^ 2U), mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
  return IpAddress::ipv6(Uint128{0xfe80U} << 112U | read64(identifier.data()));
}

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
  if (const auto entry = given_.find(address); entry != given_.end()) return &entry->second;
  if (const auto entry = learned_.find(address); entry != learned_.end()) return &entry->second;
  return nullptr;
}

FramePtr Neighbours::wait_for(const IpAddress& neighbour, FramePtr frame, Nanoseconds now_ns) {
  auto question = unresolved_.find(neighbour);
  if (question == unresolved_.end()) {
    if (unresolved_.size() >= kMaxUnresolved) return frame;
    question = unresolved_.emplace(neighbour, Unresolved{now_ns, now_ns, {}}).first;
    ask(neighbour);
  }
  auto& frames = question->second.frames;
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
  const auto question = unresolved_.extract(message.sender);
  return question.empty() ? std::vector<FramePtr>{} : std::move(question.mapped().frames);
}

// Returns whether to learn from the message: the sender asks for the gateway, or is already known
// or asked for (the merge of RFC 826; RFC 4861, 7.2).
bool Neighbours::is_of_interest(const NeighbourMessage& message) const {
  if (message.is_probe() || is_own(message.sender)) return false;
  if (message.is_request && is_own(message.target)) return true;
  return unresolved_.contains(message.sender) || learned_.contains(message.sender);
}

std::vector<FramePtr> Neighbours::tick(Nanoseconds now_ns) {
  std::vector<FramePtr> given_up;
  for (auto it = unresolved_.begin(); it != unresolved_.end();) {
    auto& [neighbour, question] = *it;
    if (now_ns - question.since_ns >= kGiveUp_ns) {
      std::ranges::move(question.frames, std::back_inserter(given_up));
      it = unresolved_.erase(it);
      continue;
    }
    if (now_ns - question.last_ns >= kAskAgain_ns) {
      question.last_ns = now_ns;
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
