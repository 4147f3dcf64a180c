#include "frame/layout.hpp"

#include <algorithm>
#include <deque>
#include <mutex>

#include "frame/tcp.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::frame {
namespace {

Layout made(const spec::PacketFormat& format, std::size_t vlan_tags) {
  const auto version = format.ip_version;
  const auto& tunnel = format.tunnel;
  const auto first = kEthernetOctets + vlan_tags * kVlanTagOctets;
  const auto ip = first + (tunnel ? tunnel->octets_before(version) : 0);
  const auto at = [ip](std::size_t offset) { return static_cast<std::uint16_t>(ip + offset); };
  const auto stamp = format.transport == spec::Transport::kTcp ? kTcpStamp : kUdpOctets;
  const auto extensions = format.extension_headers.size() * kExtensionHeaderOctets;
  const auto upper = spec::ip_octets(version) + extensions;
  const auto octets = spec::address_octets(version);
  return {.ip_version = version,
          .link_version = format.link_version(),
          .encapsulation = tunnel ? tunnel->encapsulation : nullptr,
          .first = static_cast<std::uint16_t>(first),
          .ip = at(0),
          .source = at(source_in(version)),
          .destination = at(source_in(version) + std::size_t{octets}),
          .address_octets = octets,
          .hop_limit = at(hop_limit_in(version)),
          .upper = at(upper),
          .stamp = at(upper + stamp),
          .transport = format.transport};
}

// Returns the one object for this layout.
const Layout& unique_layout(const Layout& layout) {
  static std::mutex mutex;
  static std::deque<Layout> known;  // its elements do not move
  const std::scoped_lock lock(mutex);
  const auto entry = std::ranges::find(known, layout);
  return entry != known.end() ? *entry : known.emplace_back(layout);
}

}  // namespace

const Layout& layout_of(const spec::PacketFormat& format, std::size_t vlan_tags) {
  return unique_layout(made(format, vlan_tags));
}

const Layout& layout_of(spec::IpVersion version) {
  return layout_of(spec::PacketFormat{.ip_version = version}, 0);
}

const Layout& fragment_of(const Layout& layout) {
  constexpr std::uint16_t kFragmentHeaderOctets = 8;
  auto moved = layout;
  const auto move = [](std::uint16_t& offset) {
    offset = static_cast<std::uint16_t>(offset + kFragmentHeaderOctets);
  };
  if (layout.ip_version == spec::IpVersion::k4) {
    if (layout.link_version == spec::IpVersion::k4) return layout;
    for (auto* offset : {&moved.ip, &moved.source, &moved.destination, &moved.hop_limit}) {
      move(*offset);
    }
  }
  move(moved.upper);
  move(moved.stamp);
  return unique_layout(moved);
}

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

// What the IP header of a packet holds beside lengths, addresses and checksum.
struct IpHeader {
  spec::IpVersion version;
  std::uint8_t traffic_class = 0;
  std::uint32_t flow_label = 0;
  std::uint8_t protocol;
  std::uint8_t hop_limit;
  bool dont_fragment;
};

// Writes an IPv4 header (RFC 791) without options and with identification 0 (RFC 6864: an atomic
// datagram, which has DF, needs none; Departure gives the others theirs).
void put_ipv4(FrameOctets& octets, std::size_t at, const IpHeader& header) {
  octets[at] = 0x45;
  octets[at + 1] = header.traffic_class;
  put16(octets, at + 2, octets.size() - at);
  octets[at + 6] = header.dont_fragment ? 0x40 : 0;
}

void put_ipv6(FrameOctets& octets, std::size_t at, const IpHeader& header) {
  octets[at] = static_cast<std::uint8_t>(0x60U | header.traffic_class >> 4U);
  octets[at + 1] = static_cast<std::uint8_t>(header.traffic_class << 4U | header.flow_label >> 16U);
  put16(octets, at + 2, header.flow_label & 0xffffU);
  put16(octets, at + 4, octets.size() - at - spec::ip_octets(header.version));
}

// Writes the header of a packet that reaches to the end of the frame.
void put_ip(FrameOctets& octets, std::size_t at, const IpHeader& header) {
  if (header.version == spec::IpVersion::k4) {
    put_ipv4(octets, at, header);
  } else {
    put_ipv6(octets, at, header);
  }
  octets[at + protocol_in(header.version)] = header.protocol;
  octets[at + hop_limit_in(header.version)] = header.hop_limit;
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

void put_extensions(FrameOctets& octets, const Layout& layout, const spec::PacketFormat& format) {
  const auto ip = std::size_t{layout.ip};
  auto next = ip + protocol_in(format.ip_version);
  auto at = ip + spec::ip_octets(format.ip_version);
  for (const auto header : format.extension_headers) {
    octets[next] = protocol_of(header);
    put_extension(octets, at, header, layout.protocol());
    next = at;
    at += kExtensionHeaderOctets;
  }
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

// Writes what a tunnel puts before the packet in it.
void put_tunnel(FrameOctets& octets, const Layout& layout, const spec::Tunnel& tunnel,
                const spec::Traffic& traffic) {
  const auto& [protocol, header] = tunnel.encapsulation->before(layout.ip_version);
  put_ip(octets, layout.first,
         {.version = tunnel.ip_version,
          .protocol = protocol,
          .hop_limit = tunnel.hop_limit,
          .dont_fragment = traffic.dont_fragment});
  std::ranges::copy(header, octets.data() + layout.ip - header.size());
  const auto size = spec::address_octets(tunnel.ip_version);
  const bool networks = traffic.networks > 1;
  put_address(octets, layout.link_source(), tunnel.source, size, networks);
  put_address(octets, layout.link_source() + std::size_t{size}, tunnel.destination, size, networks);
}

// Leaves out what a gateway may change in an IP header, except the addresses.
void ignore_changes(std::uint8_t* mask, spec::IpVersion version, bool traffic_class) {
  if (version == spec::IpVersion::k4) {
    if (traffic_class) mask[1] = 0;
    std::fill_n(mask + 4, 2, std::uint8_t{0});  // identification
    mask[6] = 0xbf;                             // not DF
    std::fill_n(mask + kChecksumInIpv4, 2, std::uint8_t{0});
  } else if (traffic_class) {
    mask[0] = 0xf0;
    std::fill_n(mask + 1, 3, std::uint8_t{0});  // and the flow label
  }
  mask[hop_limit_in(version)] = 0;
}

// Leaves out the two addresses, which are compared elsewhere.
void ignore_addresses(std::uint8_t* mask, spec::IpVersion version) {
  std::fill_n(mask + source_in(version), 2 * spec::address_octets(version), std::uint8_t{0});
}

}  // namespace

FrameOctets make_frame(const spec::PacketFormat& format, const spec::Traffic& traffic,
                       const Link& link) {
  const auto& layout = layout_of(format, link.vlans.size());
  const auto size = format.frame_size_bytes - kFcsOctets + link.vlans.size() * kVlanTagOctets;
  FrameOctets octets(size);
  put_link(octets, link, layout);
  if (format.tunnel) put_tunnel(octets, layout, *format.tunnel, traffic);
  put_ip(octets, layout.ip,
         {.version = format.ip_version,
          .traffic_class = format.traffic_class,
          .flow_label = format.flow_label,
          .protocol = layout.protocol(),
          .hop_limit = traffic.hop_limit,
          .dont_fragment = traffic.dont_fragment});
  put_extensions(octets, layout, format);
  const bool networks = traffic.networks > 1;
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
  const bool extended = layout.upper != ip + spec::ip_octets(layout.ip_version);
  const std::size_t to = extended ? layout.upper : layout.source;
  words_ = static_cast<unsigned>((to - from_ + 7) / 8);
  std::array<std::uint8_t, kMaxWords * 8> mask{};
  std::array<std::uint8_t, kMaxWords * 8> expected{};
  const auto at = [&mask, this](std::size_t offset) { return mask.data() + offset - from_; };
  std::fill_n(mask.begin(), to - from_, std::uint8_t{0xff});
  for (auto tag = std::size_t{12}; tag + 2 < first; tag += kVlanTagOctets) {
    *at(tag + 2) = 0x0f;  // the upper bits are the priority
  }
  if (layout.tunnelled()) {
    ignore_changes(at(first), layout.link_version, true);
    ignore_addresses(at(first), layout.link_version);
  }
  ignore_changes(at(ip), layout.ip_version, !traffic.dscp_kept);
  if (extended) ignore_addresses(at(ip), layout.ip_version);
  std::copy_n(frame.begin() + from_, to - from_, expected.begin());
  for (unsigned i = 0; i < words_; ++i) {
    mask_[i] = load<std::uint64_t>(&mask[std::size_t{8} * i]);
    expected_[i] = load<std::uint64_t>(&expected[std::size_t{8} * i]);
  }
}

}  // namespace natxy::frame
