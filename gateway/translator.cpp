#include "gateway/translator.hpp"

#include <algorithm>
#include <optional>

#include "gateway/packet.hpp"

namespace natxy::gateway {
namespace {

constexpr std::size_t kUdpChecksum = 6;
constexpr std::size_t kTcpChecksum = 16;
constexpr std::size_t kIcmpChecksum = 2;
constexpr std::size_t kLargestIpv4WithoutDf = 1260;  // RFC 7915, 5.1
constexpr std::uint16_t kDontFragment = 0x4000;
constexpr std::uint16_t kMoreFragments = 0x2000;

// The transport data in its new packet, and the change of the checksum's pseudo-header.
struct Transport {
  std::uint8_t* data;
  std::size_t octets;
  Piece piece;
  std::uint64_t removed;
  std::uint64_t added;
};

void follow_at(const Transport& transport, std::size_t offset) {
  auto* at = transport.data + offset;
  write16(at, follow(read16(at), transport.removed, transport.added));
}

// Computes a missing checksum (RFC 7915, 4.5), which needs the whole datagram.
bool compute_udp_checksum(const Transport& transport) {
  if (!transport.piece.is_whole()) return false;
  const auto sum =
      sum_of({transport.data, transport.octets}) + transport.added + kUdp + transport.octets;
  write16(transport.data + kUdpChecksum, udp_form(checksum_of(sum)));
  return true;
}

bool translate_udp(const Transport& transport, bool must_have_checksum) {
  if (transport.octets < kUdpOctets) return false;
  auto* at = transport.data + kUdpChecksum;
  if (read16(at) == 0) return !must_have_checksum || compute_udp_checksum(transport);
  follow_at(transport, kUdpChecksum);
  write16(at, udp_form(read16(at)));
  return true;
}

bool translate_tcp(const Transport& transport) {
  if (transport.octets < kTcpChecksum + 2) return false;
  follow_at(transport, kTcpChecksum);
  return true;
}

std::optional<std::uint8_t> echo_type_in_ipv6(std::uint8_t type) {
  if (type == 8) return 128;
  if (type == 0) return 129;
  return std::nullopt;
}

std::optional<std::uint8_t> echo_type_in_ipv4(std::uint8_t type) {
  if (type == 128) return 8;
  if (type == 129) return 0;
  return std::nullopt;
}

// Translates an ICMP echo. Only ICMPv6 has a pseudo-header, whose length is known for whole packets
// only.
bool translate_echo(Transport transport, std::optional<std::uint8_t> type, bool to_ipv6) {
  if (!type || !transport.piece.is_whole()) return false;
  const auto pseudo_header =
      (to_ipv6 ? transport.added : transport.removed) + kIcmp6 + transport.octets;
  const std::uint64_t old_word = read16(transport.data);
  transport.data[0] = *type;
  const std::uint64_t new_word = read16(transport.data);
  transport.removed = old_word + (to_ipv6 ? 0 : pseudo_header);
  transport.added = new_word + (to_ipv6 ? pseudo_header : 0);
  follow_at(transport, kIcmpChecksum);
  return true;
}

// Returns false if the packet cannot be translated. Only the first fragment has a transport header.
bool translate_transport(const Transport& transport, std::uint8_t protocol, bool to_ipv6) {
  if (protocol == kIcmp || protocol == kIcmp6) {
    if ((protocol == kIcmp) != to_ipv6 || transport.octets < 8) return false;
    const auto type =
        to_ipv6 ? echo_type_in_ipv6(transport.data[0]) : echo_type_in_ipv4(transport.data[0]);
    return translate_echo(transport, type, to_ipv6);
  }
  if (transport.piece.offset != 0) return true;
  if (protocol == kUdp) return translate_udp(transport, to_ipv6);
  return protocol != kTcp || translate_tcp(transport);
}

void write_fragment_header(std::uint8_t* to, std::uint8_t protocol, const Piece& piece) {
  to[0] = protocol;
  to[1] = 0;
  write16(to + 2, std::uint32_t{piece.offset} << 3U | (piece.more ? 1U : 0U));
  write32(to + 4, piece.identification & 0xffffU);
}

}  // namespace

Outcome Translator::to_ipv6(const Ipv4Packet& packet, FrameStore& store) const {
  const auto source = map_.to_ipv6(packet.source, source_port(packet));
  const auto destination = map_.to_ipv6(packet.destination, destination_port(packet));
  if (!source || !destination) return Outcome::drops(Drop::kNoRoute);
  return to_ipv6(packet, {.source = *source, .destination = *destination}, store);
}

Outcome Translator::to_ipv6(const Ipv4Packet& packet, const AddressPair& addresses,
                            FrameStore& store) {
  const auto& [source, destination] = addresses;
  if (is_illegal_source(packet.source)) return Outcome::drops(Drop::kMalformed);

  const auto data = packet.data();
  const std::size_t fragment_octets = packet.piece.is_whole() ? 0 : kFragmentHeaderOctets;
  const std::uint8_t protocol = packet.protocol == kIcmp ? kIcmp6 : packet.protocol;
  auto frame = store.take(kEthernetOctets + kIpv6Octets + fragment_octets + data.size());
  auto* ip = frame->octets + kEthernetOctets;
  write16(ip - 2, kTypeIpv6);
  write32(ip, 6U << 28U | std::uint32_t{packet.tos} << 20U);
  write16(ip + 4, static_cast<std::uint32_t>(fragment_octets + data.size()));
  ip[6] = fragment_octets != 0 ? kFragment : protocol;
  ip[7] = static_cast<std::uint8_t>(packet.ttl - 1);
  source.write(ip + 8);
  destination.write(ip + 24);
  if (fragment_octets != 0) write_fragment_header(ip + kIpv6Octets, protocol, packet.piece);

  const Transport transport{.data = ip + kIpv6Octets + fragment_octets,
                            .octets = data.size(),
                            .piece = packet.piece,
                            .removed = sum_of(packet.source) + sum_of(packet.destination),
                            .added = sum_of(source) + sum_of(destination)};
  std::ranges::copy(data, transport.data);
  if (!translate_transport(transport, packet.protocol, true)) {
    return Outcome::drops(Drop::kMalformed);
  }
  return Outcome::passes(std::move(frame));
}

Outcome Translator::to_ipv4(const Ipv6Packet& packet, FrameStore& store) {
  const auto source = map_.to_ipv4(packet.source, source_port(packet));
  const auto destination = map_.to_ipv4(packet.destination, destination_port(packet));
  if (!source || !destination) return Outcome::drops(Drop::kNoRoute);
  return to_ipv4(packet, {.source = *source, .destination = *destination}, store);
}

Outcome Translator::to_ipv4(const Ipv6Packet& packet, const AddressPair& addresses,
                            FrameStore& store) {
  const auto& [source, destination] = addresses;
  const auto upper = find_upper(packet);
  if (!upper || is_illegal_source(packet.source)) return Outcome::drops(Drop::kMalformed);

  const auto total = kIpv4Octets + upper->data.size();
  const auto piece = upper->piece.value_or(Piece{});
  auto frame = store.take(kEthernetOctets + total);
  auto* ip = frame->octets + kEthernetOctets;
  write16(ip - 2, kTypeIpv4);
  ip[0] = 0x45;
  ip[1] = packet.traffic_class;
  write16(ip + 2, static_cast<std::uint32_t>(total));
  write16(ip + 4, upper->piece ? piece.identification & 0xffffU : next_identification_++);
  const bool dont_fragment = !upper->piece && total > kLargestIpv4WithoutDf;
  write16(ip + 6,
          (dont_fragment ? kDontFragment : 0U) | (piece.more ? kMoreFragments : 0U) | piece.offset);
  ip[8] = static_cast<std::uint8_t>(packet.hop_limit - 1);
  ip[9] = upper->protocol == kIcmp6 ? kIcmp : upper->protocol;
  write16(ip + 10, 0);
  source.write(ip + 12);
  destination.write(ip + 16);
  write16(ip + 10, checksum_of(sum_of({ip, kIpv4Octets})));

  const Transport transport{.data = ip + kIpv4Octets,
                            .octets = upper->data.size(),
                            .piece = piece,
                            .removed = sum_of(packet.source) + sum_of(packet.destination),
                            .added = sum_of(source) + sum_of(destination)};
  std::ranges::copy(upper->data, transport.data);
  if (!translate_transport(transport, upper->protocol, false)) {
    return Outcome::drops(Drop::kMalformed);
  }
  return Outcome::passes(std::move(frame));
}

}  // namespace natxy::gateway
