#include "frame/icmp_error.hpp"

#include <algorithm>

#include "frame/checksum.hpp"
#include "frame/layout.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::frame {
namespace {

using Octets = std::span<const std::uint8_t>;

constexpr std::size_t kIcmpOctets = 8;
constexpr std::size_t kIpv4Octets = spec::ip_octets(spec::IpVersion::k4);
constexpr std::size_t kIpv6Octets = spec::ip_octets(spec::IpVersion::k6);
constexpr std::uint8_t kIcmp = 1;
constexpr std::uint8_t kIcmpv6 = 58;
constexpr std::uint8_t kUnreachable = 3;          // RFC 792
constexpr std::uint8_t kFragmentationNeeded = 4;  // its code; RFC 1191 has the MTU
constexpr std::uint8_t kPacketTooBig = 2;         // RFC 4443

std::size_t at16(Octets octets, std::size_t at) {
  return swap16(load<std::uint16_t>(octets.data() + at));
}

bool is_extension(std::uint8_t header) {
  return header == 0 || header == 43 || header == 60;
}

// The IP header and the data of a packet; empty if the packet is too short.
struct Packet {
  std::uint8_t protocol = 0;
  Octets header;
  Octets data;
};

// Splits an IPv4 packet. Returns an empty one for later fragments, which have no UDP header.
Packet ipv4_packet(Octets octets) {
  if (octets.size() < kIpv4Octets || octets[0] >> 4U != 4) return {};
  const auto header = (octets[0] & 0xfU) * std::size_t{4};
  const bool later_fragment = (at16(octets, 6) & 0x1fffU) != 0;
  if (header < kIpv4Octets || octets.size() < header || later_fragment) return {};
  return {.protocol = octets[9], .header = octets.first(header), .data = octets.subspan(header)};
}

// Splits an IPv6 packet. Extension headers, which may be quoted, belong to the header.
Packet ipv6_packet(Octets octets) {
  if (octets.size() < kIpv6Octets || octets[0] >> 4U != 6) return {};
  auto next = octets[protocol_in(spec::IpVersion::k6)];
  auto end = kIpv6Octets;
  while (is_extension(next) && octets.size() >= end + 2) {
    next = octets[end];
    end += (octets[end + 1] + std::size_t{1}) * 8;
    if (end > octets.size()) return {};
  }
  return {.protocol = next, .header = octets.first(end), .data = octets.subspan(end)};
}

Packet packet_of(spec::IpVersion version, Octets octets) {
  return version == spec::IpVersion::k4 ? ipv4_packet(octets) : ipv6_packet(octets);
}

// Returns the packet without the padding to Ethernet's minimum frame size.
Octets without_padding(spec::IpVersion version, Octets octets) {
  const auto length =
      version == spec::IpVersion::k4 ? at16(octets, 2) : kIpv6Octets + at16(octets, 4);
  return octets.first(std::min(length, octets.size()));
}

bool is_error(spec::IpVersion version, std::uint8_t type) {
  if (version == spec::IpVersion::k6) return type >= 1 && type <= 4;
  return type == kUnreachable || type == 4 || type == 11 || type == 12;
}

std::uint32_t mtu_of(spec::IpVersion version, Octets icmp) {
  if (version == spec::IpVersion::k6) {
    if (icmp[0] != kPacketTooBig) return 0;
    return static_cast<std::uint32_t>(at16(icmp, 4) << 16U | at16(icmp, 6));
  }
  const bool names_one = icmp[0] == kUnreachable && icmp[1] == kFragmentationNeeded;
  return names_one ? static_cast<std::uint32_t>(at16(icmp, 6)) : 0;
}

// Returns the packet at the start of the octets; empty if there is none.
Packet whole_packet(spec::IpVersion version, Octets octets) {
  if (octets.size() < spec::ip_octets(version)) return {};
  return packet_of(version, without_padding(version, octets));
}

std::optional<IcmpError> error_in(spec::IpVersion version, const Packet& packet) {
  const auto& [protocol, header, icmp] = packet;
  if (icmp.size() < kIcmpOctets) return std::nullopt;
  if (protocol != (version == spec::IpVersion::k4 ? kIcmp : kIcmpv6)) return std::nullopt;
  if (!is_error(version, icmp[0])) return std::nullopt;
  IcmpError error{.ip_version = version,
                  .type = icmp[0],
                  .code = icmp[1],
                  .mtu = mtu_of(version, icmp),
                  .quoted = icmp.subspan(kIcmpOctets)};
  std::ranges::copy(header.subspan(source_in(version), spec::address_octets(version)),
                    error.source.begin());
  return error;
}

// Returns what is in a tunnel's header and the octets after it; empty if they are not there.
Octets inside_of(const Packet& outer, const spec::TunnelHeader& tunnel) {
  const auto& [protocol, header] = tunnel;
  if (outer.header.empty() || outer.protocol != protocol) return {};
  if (outer.data.size() < header.size()) return {};
  return std::ranges::equal(outer.data.first(header.size()), header)
             ? outer.data.subspan(header.size())
             : Octets{};
}

// Parses an error in a tunnel: the gateway answers what it has taken out of a softwire through that
// softwire.
std::optional<IcmpError> error_in_tunnel(const Packet& outer) {
  for (const auto& encapsulation : spec::encapsulations()) {
    for (const auto version : {spec::IpVersion::k4, spec::IpVersion::k6}) {
      const auto inner = inside_of(outer, encapsulation.before(version));
      if (inner.empty()) continue;
      if (auto error = error_in(version, whole_packet(version, inner))) return error;
    }
  }
  return std::nullopt;
}

std::optional<IcmpError> parse_packet(spec::IpVersion version, Octets octets) {
  const auto packet = whole_packet(version, octets);
  if (auto error = error_in(version, packet)) return error;
  return error_in_tunnel(packet);
}

// Writes the address, and a mask of the bits that are the same in all frames.
void put_address(const spec::AddressPattern& pattern, bool networks, std::size_t octets,
                 std::uint8_t* expected, std::uint8_t* mask) {
  std::fill_n(mask, octets, std::uint8_t{0xff});
  if (networks && pattern.network_byte) mask[*pattern.network_byte] = 0;
  spec::put_field(mask, pattern.field, 0);
  for (std::size_t i = 0; i < octets; ++i) expected[i] = pattern.octets[i] & mask[i];
}

// Returns the ports that frames may have; with a port set, the series is one of indices.
spec::Series ports_of(const spec::Series& series, const std::optional<spec::PortSet>& ports) {
  if (!ports) return series;
  return {.mode = spec::SeriesMode::kPseudorandom, .min = 0, .max = 0xffff};
}

std::uint8_t tag_offset(const Layout& layout) {
  return static_cast<std::uint8_t>(layout.stamp - layout.upper);
}

bool within(const spec::Series& series, std::size_t value) {
  const auto highest = series.mode == spec::SeriesMode::kFixed ? series.min : series.max;
  return value >= series.min && value <= highest;
}

}  // namespace

std::optional<IcmpError> parse_icmp_error(Octets frame) {
  if (frame.size() < kEthernetOctets) return std::nullopt;
  const auto at = ether_type_at(frame.data(), static_cast<std::uint32_t>(frame.size()));
  const auto type = load<std::uint16_t>(frame.data() + at);
  const auto packet = frame.subspan(at + 2);
  if (type == kEtherTypeIpv4) return parse_packet(spec::IpVersion::k4, packet);
  if (type == kEtherTypeIpv6) return parse_packet(spec::IpVersion::k6, packet);
  return std::nullopt;
}

Quotation::Quotation(const spec::Traffic& traffic, std::uint32_t tag)
    : any_(true),
      any_destination_(traffic.connections && traffic.connections->role == spec::Role::kRespond),
      ip_version_(traffic.departure.ip_version),
      link_version_(traffic.departure.link_version()),
      protocol_(layout_of(traffic.departure, 0).protocol()),
      tag_at_(tag_offset(layout_of(traffic.departure, 0))),
      address_octets_(spec::address_octets(ip_version_)),
      source_port_(ports_of(traffic.source_port, traffic.source_port_set)),
      destination_port_(ports_of(traffic.destination_port, traffic.destination_port_set)),
      tag_(tag) {
  const bool networks = traffic.networks > 1;
  const auto& tunnel = traffic.departure.tunnel;
  if (tunnel) tunnel_ = &tunnel->encapsulation->before(ip_version_);
  const auto& source = traffic.departure.source;
  const auto& destination = traffic.departure.destination;
  put_address(source, networks, address_octets_, expected_.data(), mask_.data());
  put_address(destination, networks, address_octets_, expected_.data() + address_octets_,
              mask_.data() + address_octets_);
  if (!any_destination_) return;
  std::fill_n(mask_.begin() + address_octets_, address_octets_, std::uint8_t{0});
  std::fill_n(expected_.begin() + address_octets_, address_octets_, std::uint8_t{0});
}

bool Quotation::fits(const IcmpError& error) const {
  if (!any_) return false;
  if (error.ip_version == ip_version_ && fits_packet(error.quoted)) return true;
  if (tunnel_ == nullptr || error.ip_version != link_version_) return false;
  return fits_packet(inside_of(packet_of(link_version_, error.quoted), *tunnel_));
}

bool Quotation::fits_packet(std::span<const std::uint8_t> quoted) const {
  const auto [protocol, header, data] = packet_of(ip_version_, quoted);
  if (header.empty() || protocol != protocol_) return false;
  return fits_addresses(header.data() + source_in(ip_version_)) && fits_data(data);
}

bool Quotation::fits_addresses(const std::uint8_t* addresses) const {
  for (std::size_t i = 0; i < 2U * address_octets_; ++i) {
    if ((addresses[i] & mask_[i]) != expected_[i]) return false;
  }
  return true;
}

bool Quotation::fits_data(std::span<const std::uint8_t> upper) const {
  constexpr std::size_t kPortOctets = 4;
  constexpr std::size_t kTagOctets = 4;
  if (upper.size() >= kPortOctets) {
    if (!within(source_port_, at16(upper, 0))) return false;
    if (!any_destination_ && !within(destination_port_, at16(upper, 2))) return false;
  }
  if (upper.size() < tag_at_ + kTagOctets) return true;
  return load<std::uint32_t>(upper.data() + tag_at_) == tag_;
}

}  // namespace natxy::frame
