#include "gateway/nat/nat.hpp"

#include <algorithm>

#include "gateway/packet.hpp"

namespace natxy::gateway {
namespace {

constexpr std::size_t kUdpChecksum = 6;
constexpr std::size_t kTcpChecksum = 16;

// Updates the checksum of UDP or TCP. In UDP, 0 means "no checksum" (RFC 768) and stays 0.
void follow_upper(std::uint8_t* upper, std::uint8_t protocol, std::uint64_t removed,
                  std::uint64_t added) {
  if (protocol == kTcp) {
    auto* at = upper + kTcpChecksum;
    return write16(at, follow(read16(at), removed, added));
  }
  auto* at = upper + kUdpChecksum;
  if (read16(at) != 0) write16(at, udp_form(follow(read16(at), removed, added)));
}

void write_ports(std::uint8_t* upper, std::uint8_t protocol, const PortPair& ports) {
  const auto before = sum_of({upper, 4});
  write16(upper, ports.source);
  write16(upper + 2, ports.destination);
  follow_upper(upper, protocol, before, sum_of({upper, 4}));
}

}  // namespace

PortPair read_ports(Octets upper) {
  return {.source = read16(upper.data()), .destination = read16(upper.data() + 2)};
}

FramePtr rewrite(const Ipv4Packet& packet, const AddressPair& addresses, const PortPair& ports,
                 FrameStore& store) {
  auto frame = store.take(kEthernetOctets + packet.octets.size());
  auto* ip = frame->octets + kEthernetOctets;
  write16(ip - 2, kTypeIpv4);
  std::ranges::copy(packet.octets, ip);
  const auto removed = sum_of(packet.source) + sum_of(packet.destination);
  const auto added = sum_of(addresses.source) + sum_of(addresses.destination);
  const auto hops = read16(ip + 8);
  --ip[8];
  addresses.source.write(ip + 12);
  addresses.destination.write(ip + 16);
  write16(ip + 10, follow(read16(ip + 10), removed + hops, added + read16(ip + 8)));
  auto* upper = ip + packet.header_octets;
  follow_upper(upper, packet.protocol, removed, added);
  write_ports(upper, packet.protocol, ports);
  return frame;
}

void rewrite_ports(Frame& frame, const PortPair& ports) {
  auto* ip = frame.octets + kEthernetOctets;
  const bool ipv4 = read16(ip - 2) == kTypeIpv4;
  write_ports(ip + (ipv4 ? kIpv4Octets : kIpv6Octets), ip[ipv4 ? 9 : 6], ports);
}

namespace {

bool is_whole(std::uint8_t protocol, Octets data, const Piece& piece) {
  if (protocol != kUdp && protocol != kTcp) return false;
  return piece.is_whole() && data.size() >= (protocol == kUdp ? kUdpOctets : kTcpOctets);
}

bool is_whole(const Ipv4Packet& packet) {
  return is_whole(packet.protocol, packet.data(), packet.piece);
}

InsideEndpoint inside_endpoint(const Ipv4Packet& packet, std::uint16_t port) {
  if (!packet.softwire) return {.address = packet.source.value, .port = port};
  return {.address = packet.softwire->value,
          .port = port,
          .behind = static_cast<std::uint32_t>(packet.source.value)};
}

Ipv4Endpoint endpoint(const IpAddress& address, std::uint16_t port) {
  return {.address = static_cast<std::uint32_t>(address.value), .port = port};
}

Ipv4Endpoint remote_endpoint(const IpAddress& address, std::uint16_t port, std::uint8_t protocol) {
  auto remote = endpoint(address, port);
  remote.protocol = protocol;
  return remote;
}

IpAddress address_of(const Ipv4Endpoint& endpoint) {
  return IpAddress::ipv4(endpoint.address);
}

AddressMap map_of(const NatConfig& config) {
  if (config.kind == NatKind::kNat44) return {};
  return {.prefix = config.prefix};
}

NatTranslated dropped(Drop reason) {
  return {.outcome = Outcome::drops(reason), .destination = {}};
}

// Returns the addresses of a connection as seen from outside.
AddressPair outer_addresses(const Connection& connection) {
  return {.source = address_of(connection.external), .destination = address_of(connection.remote)};
}

PortPair outer_ports(const Connection& connection) {
  return {.source = connection.external.port, .destination = connection.remote.port};
}

PortPair inner_ports_of_reply(const Connection& connection) {
  return {.source = connection.remote.port, .destination = connection.inside.port};
}

}  // namespace

Nat::Nat(const NatConfig& config)
    : config_(config), sessions_(config), translator_(map_of(config)) {}

bool Nat::is_external(Side from, const IpAddress& address) const {
  return from != config_.inside && std::ranges::find(config_.pool, address) != config_.pool.end();
}

bool Nat::takes(Side from, const Ipv4Packet& packet) const {
  if (from == config_.inside) return config_.kind == NatKind::kNat44;
  return is_external(from, packet.destination);
}

bool Nat::takes(Side from, const Ipv6Packet& packet) const {
  return config_.kind == NatKind::kNat64 && from == config_.inside &&
         config_.prefix.contains(packet.destination);
}

std::optional<IpAddress> Nat::remote_of(Side from, const Ipv4Packet& packet) const {
  if (from != config_.inside) return std::nullopt;
  return packet.destination;
}

std::optional<IpAddress> Nat::remote_of(Side /*from*/, const Ipv6Packet& packet) const {
  return translator_.map().to_ipv4(packet.destination);
}

NatTranslated Nat::translate(Side from, const Ipv4Packet& packet, Nanoseconds now_ns,
                             FrameStore& store) {
  if (!is_whole(packet)) return dropped(Drop::kNatProtocol);
  return from == config_.inside ? to_outside(packet, now_ns, store)
                                : to_inside(packet, now_ns, store);
}

NatTranslated Nat::to_outside(const Ipv4Packet& packet, Nanoseconds now_ns, FrameStore& store) {
  const auto ports = read_ports(packet.data());
  const auto [connection, reason, leaves_ns] = sessions_.outbound(
      inside_endpoint(packet, ports.source),
      remote_endpoint(packet.destination, ports.destination, packet.protocol), now_ns);
  if (!connection) return dropped(reason);
  ++outbound_;
  auto frame = rewrite(packet, outer_addresses(*connection), outer_ports(*connection), store);
  return {.outcome = Outcome::passes(std::move(frame), leaves_ns),
          .destination = packet.destination};
}

NatTranslated Nat::to_inside(const Ipv4Packet& packet, Nanoseconds now_ns, FrameStore& store) {
  const auto ports = read_ports(packet.data());
  const auto [connection, reason, leaves_ns] =
      sessions_.inbound(endpoint(packet.destination, ports.destination),
                        remote_endpoint(packet.source, ports.source, packet.protocol), now_ns);
  if (!connection) return dropped(reason);
  ++inbound_;
  const auto reply_ports = inner_ports_of_reply(*connection);
  const auto& [inside, port, behind] = connection->inside;
  if (config_.kind == NatKind::kNat44) {
    const auto host = IpAddress::ipv4(behind == 0 ? static_cast<std::uint32_t>(inside) : behind);
    auto frame =
        rewrite(packet, {.source = packet.source, .destination = host}, reply_ports, store);
    return {.outcome = Outcome::passes(std::move(frame), leaves_ns),
            .destination = behind == 0 ? host : IpAddress::ipv6(inside)};
  }
  const auto host = IpAddress::ipv6(inside);
  const auto source = embed(config_.prefix, packet.source);
  auto outcome = Translator::to_ipv6(packet, {.source = source, .destination = host}, store);
  if (outcome.frame) rewrite_ports(*outcome.frame, reply_ports);
  outcome.leaves_ns = leaves_ns;
  return {.outcome = std::move(outcome), .destination = host};
}

NatTranslated Nat::translate(Side /*from*/, const Ipv6Packet& packet, Nanoseconds now_ns,
                             FrameStore& store) {
  const auto upper = find_upper(packet);
  if (!upper) return dropped(Drop::kMalformed);
  if (!is_whole(upper->protocol, upper->data, upper->piece.value_or(Piece{}))) {
    return dropped(Drop::kNatProtocol);
  }
  const auto ports = read_ports(upper->data);
  const auto remote = extract(config_.prefix, packet.destination);
  const auto [connection, reason, leaves_ns] =
      sessions_.outbound({.address = packet.source.value, .port = ports.source},
                         remote_endpoint(remote, ports.destination, upper->protocol), now_ns);
  if (!connection) return dropped(reason);
  auto outcome = translator_.to_ipv4(packet, outer_addresses(*connection), store);
  if (outcome.frame) {
    ++outbound_;
    rewrite_ports(*outcome.frame, outer_ports(*connection));
  }
  outcome.leaves_ns = leaves_ns;
  return {.outcome = std::move(outcome), .destination = remote};
}

void Nat::clear() {
  sessions_.clear();
  outbound_ = inbound_ = 0;
}

NatRecord Nat::record() const {
  auto copy = sessions_.record();
  copy.outbound = outbound_;
  copy.inbound = inbound_;
  return copy;
}

}  // namespace natxy::gateway
