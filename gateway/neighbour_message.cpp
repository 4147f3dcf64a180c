#include "gateway/neighbour_message.hpp"

#include <algorithm>

#include "gateway/checksum.hpp"
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

Options read_options(Octets options, std::uint8_t wanted) {
  Options found;
  while (!options.empty()) {
    const std::size_t octets = options.size() < 2 ? 0 : options[1] * std::size_t{8};
    if (octets == 0 || octets > options.size()) return {.is_valid = false, .link_layer = {}};
    if (options[0] == wanted) found.link_layer = read_mac(options.data() + 2);
    options = options.subspan(octets);
  }
  return found;
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

}  // namespace natxy::gateway
