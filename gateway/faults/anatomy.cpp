#include "gateway/faults/anatomy.hpp"

namespace natxy::gateway {
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
