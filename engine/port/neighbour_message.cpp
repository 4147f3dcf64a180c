#include "port/neighbour_message.hpp"

#include <algorithm>

namespace natxy::port {
namespace {

using spec::IpVersion;
using Octets = std::span<const std::uint8_t>;

constexpr std::uint16_t kTypeArp = 0x0806;
constexpr std::uint16_t kTypeIpv6 = 0x86dd;
constexpr std::size_t kTags = 12;  // where the VLAN tags are, before the EtherType
constexpr std::size_t kTagOctets = 4;
constexpr std::size_t kEthernet = 14;
constexpr std::size_t kArp = kEthernet + 28;
constexpr std::size_t kIcmp = kEthernet + 40;
constexpr std::size_t kTarget = kIcmp + 8;
constexpr std::size_t kOptions = kTarget + 16;
constexpr std::uint8_t kIcmpv6 = 58;
constexpr std::uint8_t kSolicitation = 135;
constexpr std::uint8_t kAdvertisement = 136;
constexpr std::uint8_t kSourceOption = 1;
constexpr std::uint8_t kTargetOption = 2;
constexpr Mac kBroadcast = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

std::uint16_t word(Octets frame, std::size_t at) {
  return static_cast<std::uint16_t>(frame[at] << 8U | frame[at + 1]);
}

void put_word(NeighbourFrame& frame, std::size_t at, std::uint16_t value) {
  frame.octets[at] = static_cast<std::uint8_t>(value >> 8U);
  frame.octets[at + 1] = static_cast<std::uint8_t>(value);
}

template <typename Range>
void put(NeighbourFrame& frame, std::size_t at, const Range& octets) {
  std::ranges::copy(octets, frame.octets.begin() + static_cast<std::ptrdiff_t>(at));
}

Mac mac_at(Octets frame, std::size_t at) {
  Mac mac;
  std::ranges::copy(frame.subspan(at, mac.size()), mac.begin());
  return mac;
}

IpAddress address_at(Octets frame, std::size_t at, IpVersion version) {
  IpAddress address{.version = version, .octets = {}};
  std::ranges::copy(frame.subspan(at, version == IpVersion::k4 ? 4 : 16), address.octets.begin());
  return address;
}

bool unspecified(const IpAddress& address) {
  return address.octets == IpAddress{}.octets;
}

// --- ARP -----------------------------------------------------------------------------------------

std::optional<NeighbourMessage> parse_arp(Octets frame) {
  if (frame.size() < kArp) return std::nullopt;
  const auto arp = frame.subspan(kEthernet);
  const auto operation = word(arp, 6);
  const bool over_ethernet = word(arp, 0) == 1 && word(arp, 2) == 0x0800 && word(arp, 4) == 0x0604;
  if (!over_ethernet || operation < 1 || operation > 2) return std::nullopt;
  const auto sender = address_at(arp, 14, IpVersion::k4);
  const bool asks = operation == 1;
  return NeighbourMessage{
      .type = asks ? NeighbourMessage::Type::kQuestion : NeighbourMessage::Type::kAnswer,
      .target = asks ? address_at(arp, 24, IpVersion::k4) : sender,
      .sender = sender,
      .mac = mac_at(arp, 8)};
}

NeighbourFrame arp(std::uint16_t operation, const Neighbour& from, const Neighbour& to) {
  NeighbourFrame frame;
  put(frame, 0, to.mac);
  put(frame, 6, from.mac);
  put_word(frame, 12, kTypeArp);
  put_word(frame, kEthernet, 1);
  put_word(frame, kEthernet + 2, 0x0800);
  put_word(frame, kEthernet + 4, 0x0604);
  put_word(frame, kEthernet + 6, operation);
  put(frame, kEthernet + 8, from.mac);
  put(frame, kEthernet + 14, Octets(from.address.octets).first(4));
  if (operation == 2) put(frame, kEthernet + 18, to.mac);
  put(frame, kEthernet + 24, Octets(to.address.octets).first(4));
  return frame;
}

// --- Neighbour Discovery -------------------------------------------------------------------------

// Returns the checksum over the pseudo-header and the message (RFC 4443 2.3); 0 if the message
// contains its correct checksum.
std::uint16_t icmpv6_checksum(Octets ipv6) {
  const std::size_t length = word(ipv6, 4);
  std::uint32_t sum = static_cast<std::uint32_t>(length) + kIcmpv6;
  for (std::size_t i = 8; i < 40; i += 2) sum += word(ipv6, i);
  for (std::size_t i = 0; i + 1 < length; i += 2) sum += word(ipv6, 40 + i);
  if (length % 2 == 1) sum += static_cast<std::uint32_t>(ipv6[40 + length - 1]) << 8U;
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16U);
  return static_cast<std::uint16_t>(~sum);
}

// Makes the checks of RFC 4861 7.1.1 and 7.1.2 that both messages have in common.
bool valid_discovery(Octets frame) {
  if (frame.size() < kOptions) return false;
  const auto ipv6 = frame.subspan(kEthernet);
  const std::size_t length = word(ipv6, 4);
  const bool complete = length >= 24 && frame.size() >= kIcmp + length;
  if (!complete || ipv6[0] >> 4U != 6 || ipv6[6] != kIcmpv6 || ipv6[7] != 255) return false;
  return frame[kIcmp + 1] == 0 && frame[kTarget] != 0xff && icmpv6_checksum(ipv6) == 0;
}

struct Options {
  bool well_formed = true;
  std::optional<Mac> link_layer;
};

Options options_of(Octets frame, std::uint8_t type) {
  Options options;
  auto rest = frame.subspan(kOptions, word(frame, kEthernet + 4) - 24U);
  while (!rest.empty()) {
    const std::size_t length = rest.size() < 2 ? 0 : rest[1] * 8U;
    if (length == 0 || length > rest.size()) return {.well_formed = false, .link_layer = {}};
    if (rest[0] == type) options.link_layer = mac_at(rest, 2);
    rest = rest.subspan(length);
  }
  return options;
}

std::optional<NeighbourMessage> parse_discovery(Octets frame) {
  const auto type = frame.size() > kIcmp ? frame[kIcmp] : 0;
  const bool asks = type == kSolicitation;
  if ((!asks && type != kAdvertisement) || !valid_discovery(frame)) return std::nullopt;
  const auto options = options_of(frame, asks ? kSourceOption : kTargetOption);
  const auto sender = address_at(frame, kEthernet + 8, IpVersion::k6);
  const bool detects_duplicates = asks && unspecified(sender);
  if (!options.well_formed || (detects_duplicates && options.link_layer)) return std::nullopt;
  return NeighbourMessage{
      .type = asks ? NeighbourMessage::Type::kQuestion : NeighbourMessage::Type::kAnswer,
      .target = address_at(frame, kTarget, IpVersion::k6),
      .sender = sender,
      .mac = options.link_layer.value_or(mac_at(frame, 6))};  // the option may be left out
}

struct Discovery {
  std::uint8_t type;
  std::uint8_t flags;
  std::uint8_t option;
  Neighbour from;
  Neighbour to;
  IpAddress target;
};

NeighbourFrame discovery(const Discovery& message) {
  NeighbourFrame frame;
  frame.size = kOptions + 8;
  put(frame, 0, message.to.mac);
  put(frame, 6, message.from.mac);
  put_word(frame, 12, kTypeIpv6);
  frame.octets[kEthernet] = 0x60;
  put_word(frame, kEthernet + 4, static_cast<std::uint16_t>(frame.size - kIcmp));
  frame.octets[kEthernet + 6] = kIcmpv6;
  frame.octets[kEthernet + 7] = 255;
  put(frame, kEthernet + 8, message.from.address.octets);
  put(frame, kEthernet + 24, message.to.address.octets);
  frame.octets[kIcmp] = message.type;
  frame.octets[kIcmp + 4] = message.flags;
  put(frame, kTarget, message.target.octets);
  frame.octets[kOptions] = message.option;
  frame.octets[kOptions + 1] = 1;
  put(frame, kOptions + 2, message.from.mac);
  put_word(frame, kIcmp + 2, icmpv6_checksum(frame.view().subspan(kEthernet)));
  return frame;
}

// Returns the solicited-node address and its MAC address (RFC 4291 2.7.1 and RFC 2464 7).
Neighbour solicited_node(const IpAddress& target) {
  const auto& low = target.octets;
  return {.address = {.version = IpVersion::k6,
                      .octets = {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, low[13], low[14],
                                 low[15]}},
          .mac = {0x33, 0x33, 0xff, low[13], low[14], low[15]}};
}

constexpr std::uint8_t kSolicited = 0x40;
constexpr std::uint8_t kOverride = 0x20;

NeighbourFrame advertisement(const NeighbourMessage& question, const Mac& mac) {
  Neighbour to{.address = question.sender, .mac = question.mac};
  std::uint8_t flags = kSolicited | kOverride;
  if (unspecified(question.sender)) {  // RFC 4861 7.2.4: to all nodes
    to.address.octets = {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    to.mac = {0x33, 0x33, 0, 0, 0, 1};
    flags = kOverride;
  }
  return discovery({.type = kAdvertisement,
                    .flags = flags,
                    .option = kTargetOption,
                    .from = {.address = question.target, .mac = mac},
                    .to = to,
                    .target = question.target});
}

}  // namespace

std::optional<NeighbourMessage> parse_neighbour_message(Octets frame) {
  if (frame.size() < kArp) return std::nullopt;
  const auto type = word(frame, 12);
  if (type == kTypeArp) return parse_arp(frame);
  if (type == kTypeIpv6) return parse_discovery(frame);
  return std::nullopt;
}

std::optional<std::vector<std::uint8_t>> untagged(Octets frame,
                                                  std::span<const spec::VlanTag> tags) {
  constexpr std::uint16_t kIdBits = 0x0fff;
  if (frame.size() < kTags) return std::nullopt;
  std::size_t at = kTags;
  for (const auto& tag : tags) {
    if (frame.size() < at + kTagOctets || word(frame, at) != tag.tpid ||
        (word(frame, at + 2) & kIdBits) != tag.id) {
      return std::nullopt;
    }
    at += kTagOctets;
  }
  // The MAC addresses move to where the EtherType then follows them.
  const auto rest = frame.subspan(at - kTags);
  std::vector<std::uint8_t> octets(rest.begin(), rest.end());
  std::ranges::copy(frame.first(kTags), octets.begin());
  return octets;
}

NeighbourFrame tagged(const NeighbourFrame& frame, std::span<const spec::VlanTag> tags) {
  NeighbourFrame result = frame;
  std::size_t at = kTags;
  for (const auto& tag : tags) {
    put_word(result, at, tag.tpid);
    put_word(result, at + 2, static_cast<std::uint16_t>(tag.priority << 13U | tag.id));
    at += kTagOctets;
  }
  result.size = frame.size + at - kTags;
  put(result, at, frame.view().subspan(kTags));
  return result;
}

NeighbourFrame question(const Neighbour& from, const IpAddress& target) {
  if (target.version == IpVersion::k4) {
    return arp(1, from, {.address = target, .mac = kBroadcast});
  }
  return discovery({.type = kSolicitation,
                    .flags = 0,
                    .option = kSourceOption,
                    .from = from,
                    .to = solicited_node(target),
                    .target = target});
}

NeighbourFrame answer(const NeighbourMessage& question, const Mac& mac) {
  if (question.target.version == IpVersion::k6) return advertisement(question, mac);
  return arp(2, {.address = question.target, .mac = mac},
             {.address = question.sender, .mac = question.mac});
}

}  // namespace natxy::port
