#include "frame/headers.hpp"

#include <algorithm>

#include "frame/tcp.hpp"
#include "spec/field_bits.hpp"

namespace natxy::frame {
namespace {

using FrameOctets = std::vector<std::uint8_t>;

void put16(FrameOctets& octets, std::size_t at, std::size_t value) {
  octets[at] = static_cast<std::uint8_t>(value >> 8U);
  octets[at + 1] = static_cast<std::uint8_t>(value);
}

void put_link(FrameOctets& octets, const Link& link, const Layout& layout) {
  std::ranges::copy(link.destination, octets.begin());
  std::ranges::copy(link.source, octets.begin() + 6);
  std::size_t at = 12;
  for (const auto& tag : link.vlans) {
    put16(octets, at, tag.tpid);
    put16(octets, at + 2, static_cast<std::size_t>(tag.priority) << 13U | tag.id);
    at += kVlanTagOctets;
  }
  store(&octets[at], layout.ether_type());
}

// Writes an IPv4 header (RFC 791) without options and with identification 0 (RFC 6864: an atomic
// datagram, which has DF, needs none).
void put_ipv4(FrameOctets& octets, const Layout& layout, const spec::PacketFormat& format,
              const spec::Traffic& traffic) {
  const auto ip = std::size_t{layout.ip};
  octets[ip] = 0x45;
  octets[ip + 1] = format.traffic_class;
  put16(octets, ip + 2, octets.size() - ip);
  octets[ip + 6] = traffic.dont_fragment ? 0x40 : 0;
  octets[ip + 9] = layout.protocol();
}

std::uint8_t protocol_of(spec::ExtensionHeader header) {
  using enum spec::ExtensionHeader;
  return header == kHopByHop ? 0 : header == kRouting ? 43 : 60;
}

// Writes an extension header of 8 octets: two of header and one option of padding (RFC 8200 4.2),
// or a routing header of an experimental type (RFC 4727) with no segments left, which every node
// skips.
void put_extension(FrameOctets& octets, std::size_t at, spec::ExtensionHeader header,
                   std::uint8_t next_header) {
  constexpr std::uint8_t kPadN = 1;
  constexpr std::uint8_t kExperimental = 253;
  octets[at] = next_header;
  if (header == spec::ExtensionHeader::kRouting) {
    octets[at + 2] = kExperimental;
  } else {
    octets[at + 2] = kPadN;
    octets[at + 3] = 4;
  }
}

void put_ipv6(FrameOctets& octets, const Layout& layout, const spec::PacketFormat& format) {
  const auto ip = std::size_t{layout.ip};
  octets[ip] = static_cast<std::uint8_t>(0x60U | format.traffic_class >> 4U);
  octets[ip + 1] = static_cast<std::uint8_t>(format.traffic_class << 4U | format.flow_label >> 16U);
  put16(octets, ip + 2, format.flow_label & 0xffffU);
  put16(octets, ip + 4, octets.size() - ip - kIpv6Octets);
  auto next = ip + 6;
  auto at = ip + kIpv6Octets;
  for (const auto header : format.extension_headers) {
    octets[next] = protocol_of(header);
    put_extension(octets, at, header, layout.protocol());
    next = at;
    at += kExtensionHeaderOctets;
  }
  octets[next] = layout.protocol();
}

// Writes the outer header of a tunnel without its addresses (RFC 2473 section 5.1).
void put_tunnel(FrameOctets& octets, std::size_t at, const spec::Tunnel& tunnel) {
  octets[at] = 0x60;
  put16(octets, at + 4, octets.size() - at - kIpv6Octets);
  octets[at + 6] = kProtocolIpv4;
  octets[at + 7] = tunnel.hop_limit;
}

// Writes a TCP header without ports, numbers and checksum. The stamp is in an option.
void put_tcp(FrameOctets& octets, const Layout& layout, const spec::Connections& connections) {
  const auto tcp = std::size_t{layout.upper};
  const bool data = octets.size() > layout.min_octets();
  octets[tcp + 12] = kTcpOctets / 4 << 4U;
  octets[tcp + 13] =
      tcp_flags(connections.role, connections.segment.value_or(spec::TcpSegment::kSyn), data);
  put16(octets, tcp + 14, kTcpWindow);
  octets[tcp + 20] = kTcpStampOption;
  octets[tcp + 21] = kTcpStampOptionOctets;
}

// Writes the address with zeros in its varying parts.
void put_address(FrameOctets& octets, std::size_t at, const spec::AddressPattern& pattern,
                 std::size_t size, bool networks) {
  std::copy_n(pattern.octets.begin(), size, octets.begin() + static_cast<std::ptrdiff_t>(at));
  if (networks && pattern.network_byte) octets[at + *pattern.network_byte] = 0;
  spec::put_field(octets.data() + at, pattern.field, 0);
}

}  // namespace

FrameOctets make_frame(const spec::PacketFormat& format, const spec::Traffic& traffic,
                       const Link& link) {
  const auto& layout = layout_of(format, link.vlans.size());
  const auto size = format.frame_size_bytes - kFcsOctets + link.vlans.size() * kVlanTagOctets;
  FrameOctets octets(size);
  put_link(octets, link, layout);
  if (layout.ipv4()) {
    put_ipv4(octets, layout, format, traffic);
  } else {
    put_ipv6(octets, layout, format);
  }
  octets[layout.hop_limit] = traffic.hop_limit;
  const bool networks = traffic.networks > 1;
  if (format.tunnel) {
    const auto at = std::size_t{layout.first};
    put_tunnel(octets, at, *format.tunnel);
    put_address(octets, at + 8, format.tunnel->source, 16, networks);
    put_address(octets, at + 24, format.tunnel->destination, 16, networks);
  }
  put_address(octets, layout.source, format.source, layout.address_octets, networks);
  put_address(octets, layout.destination, format.destination, layout.address_octets, networks);
  if (layout.tcp()) {
    put_tcp(octets, layout, traffic.connections.value_or(spec::Connections{}));
  } else {
    put16(octets, layout.upper + 4U, octets.size() - layout.upper);
  }
  std::uint8_t value = 0;
  for (std::size_t at = layout.min_octets(); at < octets.size(); ++at) octets[at] = value++;
  return octets;
}

HeaderMask::HeaderMask(const Layout& layout, const spec::Traffic& traffic, const FrameOctets& frame)
    : from_(layout.first == kEthernetOctets ? layout.first : std::uint16_t{12}) {
  const auto ip = std::size_t{layout.ip};
  const auto first = std::size_t{layout.first};
  // Extension headers are behind the addresses.
  const bool extended = !layout.ipv4() && layout.upper != ip + kIpv6Octets;
  const std::size_t to = extended ? layout.upper : layout.source;
  words_ = static_cast<unsigned>((to - from_ + 7) / 8);
  std::array<std::uint8_t, kMaxWords * 8> mask{};
  std::array<std::uint8_t, kMaxWords * 8> expected{};
  const auto at = [this](std::size_t offset) { return offset - from_; };
  std::fill_n(mask.begin(), to - from_, std::uint8_t{0xff});
  for (auto tag = std::size_t{12}; tag + 2 < first; tag += kVlanTagOctets) {
    mask[at(tag + 2)] = 0x0f;  // the upper bits are the priority
  }
  if (layout.tunnelled()) {
    mask[at(first)] = 0xf0;
    std::fill_n(&mask[at(first + 1)], 3, std::uint8_t{0});
    std::fill_n(&mask[at(first + 7)], 33, std::uint8_t{0});  // hop limit and addresses
  }
  const bool kept = traffic.dscp_kept;
  if (layout.ipv4()) {
    if (!kept) mask[at(ip + 1)] = 0;
    std::fill_n(&mask[at(ip + 4)], 2, std::uint8_t{0});   // identification
    mask[at(ip + 6)] = 0xbf;                              // not DF
    std::fill_n(&mask[at(ip + 10)], 2, std::uint8_t{0});  // checksum
  } else if (!kept) {
    mask[at(ip)] = 0xf0;
    std::fill_n(&mask[at(ip + 1)], 3, std::uint8_t{0});
  }
  mask[at(layout.hop_limit)] = 0;
  if (extended) std::fill_n(&mask[at(layout.source)], 32, std::uint8_t{0});
  std::copy_n(frame.begin() + from_, to - from_, expected.begin());
  for (unsigned i = 0; i < words_; ++i) {
    mask_[i] = load<std::uint64_t>(&mask[std::size_t{8} * i]);
    expected_[i] = load<std::uint64_t>(&expected[std::size_t{8} * i]);
  }
}

}  // namespace natxy::frame
