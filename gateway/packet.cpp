#include "gateway/packet.hpp"

namespace natxy::gateway {
namespace {

// Returns whether there is an unexpired source route: option 131 or 137, whose pointer is not past
// the end (RFC 791, 3.1).
bool has_unexpired_source_route(Octets options) {
  while (!options.empty() && options[0] != 0) {
    if (options[0] == 1) {
      options = options.subspan(1);
      continue;
    }
    if (options.size() < 2 || options[1] < 2 || options[1] > options.size()) return false;
    const bool is_route = options[0] == 131 || options[0] == 137;
    if (is_route && options[1] >= 3 && options[2] <= options[1]) return true;
    options = options.subspan(options[1]);
  }
  return false;
}

bool is_extension(std::uint8_t next_header) {
  return next_header == kHopByHop || next_header == kRouting || next_header == kFragment ||
         next_header == kDestinationOptions;
}

bool is_whole_header(const std::uint8_t* at, std::size_t available, std::uint8_t kind) {
  if (available < 8) return false;
  return kind == kFragment || available >= (at[1] + std::size_t{1}) * 8;
}

}  // namespace

std::optional<Ipv4Packet> parse_ipv4(Octets octets) {
  if (octets.size() < kIpv4Octets || octets[0] >> 4U != 4) return std::nullopt;
  const auto* at = octets.data();
  const std::size_t header = (at[0] & 15U) * 4U;
  const std::size_t total = read16(at + 2);
  if (header < kIpv4Octets || total < header || total > octets.size()) return std::nullopt;
  if (checksum_of(sum_of(octets.first(header))) != 0) return std::nullopt;
  if (has_unexpired_source_route(octets.subspan(kIpv4Octets, header - kIpv4Octets))) {
    return std::nullopt;
  }
  const auto flags = read16(at + 6);
  return Ipv4Packet{.octets = octets.first(total),
                    .header_octets = header,
                    .tos = at[1],
                    .ttl = at[8],
                    .protocol = at[9],
                    .dont_fragment = (flags & 0x4000U) != 0,
                    .piece = {.identification = read16(at + 4),
                              .offset = static_cast<std::uint16_t>(flags & 0x1fffU),
                              .more = (flags & 0x2000U) != 0},
                    .source = IpAddress::read_ipv4(at + 12),
                    .destination = IpAddress::read_ipv4(at + 16)};
}

std::optional<Ipv6Packet> parse_ipv6(Octets octets) {
  if (octets.size() < kIpv6Octets || octets[0] >> 4U != 6) return std::nullopt;
  const auto* at = octets.data();
  const std::size_t total = kIpv6Octets + read16(at + 4);
  if (total > octets.size()) return std::nullopt;
  return Ipv6Packet{.octets = octets.first(total),
                    .traffic_class = static_cast<std::uint8_t>(read16(at) >> 4U),
                    .hop_limit = at[7],
                    .next_header = at[6],
                    .source = IpAddress::read_ipv6(at + 8),
                    .destination = IpAddress::read_ipv6(at + 24)};
}

std::optional<Ipv6Upper> find_upper(const Ipv6Packet& packet) {
  Ipv6Upper upper{.protocol = packet.next_header, .data = packet.data(), .piece = std::nullopt};
  while (is_extension(upper.protocol)) {
    const auto* at = upper.data.data();
    if (upper.piece || !is_whole_header(at, upper.data.size(), upper.protocol)) return std::nullopt;
    if (upper.protocol == kRouting && at[3] != 0) return std::nullopt;
    std::size_t octets = kFragmentHeaderOctets;
    if (upper.protocol == kFragment) {
      upper.piece = Piece{.identification = read32(at + 4),
                          .offset = static_cast<std::uint16_t>(read16(at + 2) >> 3U),
                          .more = (at[3] & 1U) != 0};
    } else {
      octets = (at[1] + std::size_t{1}) * 8;
    }
    upper.protocol = at[0];
    upper.data = upper.data.subspan(octets);
  }
  if (upper.piece && upper.protocol == kAuthentication) return std::nullopt;
  return upper;
}

namespace {

// Returns whether the octets start with a whole IPv4 header.
bool has_ipv4_header(Octets octets) {
  if (octets.size() < kIpv4Octets || octets[0] >> 4U != 4) return false;
  const auto header = (octets[0] & 15U) * std::size_t{4};
  return header >= kIpv4Octets && header <= octets.size();
}

std::optional<TransportHeader> transport_at(Octets frame, std::size_t at, std::uint8_t protocol) {
  if (protocol == kUdp && frame.size() >= at + kUdpOctets) {
    return TransportHeader{.protocol = protocol, .at = at, .data = at + kUdpOctets};
  }
  if (protocol != kTcp || frame.size() < at + kTcpOctets) return std::nullopt;
  const auto header = (frame[at + 12] >> 4U) * std::size_t{4};
  if (header < kTcpOctets || at + header > frame.size()) return std::nullopt;
  return TransportHeader{.protocol = protocol, .at = at, .data = at + header};
}

std::optional<TransportHeader> transport_in_ipv6(Octets frame, std::size_t ip) {
  const auto packet = parse_ipv6(frame.subspan(ip));
  const auto upper = packet ? find_upper(*packet) : std::nullopt;
  if (!upper || upper->piece) return std::nullopt;
  return transport_at(frame, frame.size() - upper->data.size(), upper->protocol);
}

std::optional<TransportHeader> transport_in_ipv4(Octets frame, std::size_t ip) {
  const auto* header = frame.data() + ip;
  const bool is_whole = (read16(header + 6) & 0x3fffU) == 0;
  if (!is_whole) return std::nullopt;
  return transport_at(frame, ip + (header[0] & 15U) * std::size_t{4}, header[9]);
}

}  // namespace

std::optional<Anatomy> dissect(const Frame& frame) {
  constexpr auto kIp = kEthernetOctets;
  const auto octets = frame.view();
  const std::uint8_t* ip = frame.octets + kIp;
  const auto type = read16(ip - 2);
  if (type != kTypeIpv4 && type != kTypeIpv6) return std::nullopt;
  Anatomy anatomy{.is_ipv6 = type == kTypeIpv6,
                  .ip = kIp,
                  .outer = {},
                  .packet_end = frame.length,
                  .upper = {}};
  if (anatomy.is_ipv6 && ip[6] == kIpv4InIpv6 &&
      has_ipv4_header(octets.subspan(kIp + kIpv6Octets))) {
    anatomy.is_ipv6 = false;
    anatomy.outer = kIp;
    anatomy.ip += kIpv6Octets;
  }
  anatomy.upper = anatomy.is_ipv6 ? transport_in_ipv6(octets, anatomy.ip)
                                  : transport_in_ipv4(octets, anatomy.ip);
  return anatomy;
}

}  // namespace natxy::gateway
