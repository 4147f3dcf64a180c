#include "frame/arrival.hpp"

namespace natxy::frame {

namespace {

// Returns whether the gateway chooses the source on arrival, as it does for the initiator's frames.
bool learned(const spec::Traffic& traffic) {
  return traffic.connections && traffic.connections->role != spec::Role::kRespond;
}

spec::PacketFormat expected_format(const spec::Traffic& traffic) {
  auto format = traffic.arrival;
  if (learned(traffic)) format.source = {};
  return format;
}

// Returns whether an IP header has the length of its packet, and an IPv4 packet is no fragment.
bool ip_right(const std::uint8_t* ip, spec::IpVersion version, std::size_t octets) {
  if (version == spec::IpVersion::k6) {
    return (ip[0] & 0xf0U) == 0x60 && read16(ip + 4) + 40U == octets;
  }
  const auto fragment = load<std::uint16_t>(ip + 6) & ~0x0040U;  // all but DF
  return ip[0] == 0x45 && fragment == 0 && read16(ip + 2) == octets;
}

// Returns whether the outer headers lead to the packet in the tunnel, and the outer checksum is
// correct.
bool tunnel_right(const Claimed& claimed) {
  const auto& layout = *claimed.layout;
  if (!layout.tunnelled()) return true;
  const auto& [protocol, header] = layout.encapsulation->before(layout.ip_version);
  const auto* outer = claimed.frame + layout.first;
  return ip_right(outer, layout.link_version, claimed.size - layout.first) &&
         outer[protocol_in(layout.link_version)] == protocol &&
         std::equal(header.begin(), header.end(), claimed.frame + layout.ip - header.size()) &&
         (layout.link_version == spec::IpVersion::k6 || ipv4_checksum_right(outer));
}

// Returns the offset of the header of this protocol that the chain of extension headers leads to; 0
// if it leads to none at or before `end`.
std::size_t end_of_chain(const std::uint8_t* frame, std::size_t ip, std::size_t end,
                         std::uint8_t protocol) {
  auto next = frame[ip + 6];
  auto at = ip + 40;
  while (at + 2 <= end && (next == 0 || next == 43 || next == 60)) {
    next = frame[at];
    at += (std::size_t{frame[at + 1]} + 1) * 8;
  }
  return next == protocol ? at : 0;
}

}  // namespace

Layouts::Layouts(const std::vector<const spec::Traffic*>& arriving, std::size_t vlan_tags) {
  for (const auto* traffic : arriving) add(layout_of(traffic->arrival, vlan_tags));
  for (const auto* traffic : arriving) add(layout_of(traffic->departure, vlan_tags));
  for (const auto* traffic : arriving) add(layout_of(traffic->arrival, 0));
  for (const auto version : {spec::IpVersion::k4, spec::IpVersion::k6}) {
    add(layout_of(version));
  }
  for (const auto* traffic : arriving) add(fragment_of(layout_of(traffic->arrival, vlan_tags)));
}

void Layouts::add(const Layout& layout) {
  const auto end = layouts_.begin() + count_;
  if (count_ == kMost || std::find(layouts_.begin(), end, &layout) != end) return;
  ether_types_[count_] = layout.ether_type();
  layouts_[count_++] = &layout;
}

namespace {

// Returns whether the header of UDP or TCP has the lengths of a test frame.
bool upper_well_formed(const Claimed& claimed) {
  const auto& layout = *claimed.layout;
  const auto* upper = claimed.frame + layout.upper;
  if (layout.tcp()) return upper[12] >> 4U == kTcpOctets / 4;
  return claimed.size == read16(upper + 4) + std::size_t{layout.upper};
}

bool well_formed(const Claimed& claimed) {
  const auto* frame = claimed.frame;
  const auto& layout = *claimed.layout;
  if (!upper_well_formed(claimed)) return false;
  const auto* ip = frame + layout.ip;
  if (!ip_right(ip, layout.ip_version, claimed.size - layout.ip)) return false;
  const auto protocol = layout.protocol();
  return layout.ipv4() ? ip[protocol_in(layout.ip_version)] == protocol
                       : end_of_chain(frame, layout.ip, layout.upper, protocol) == layout.upper;
}

// RFC 768: over IPv4, a UDP checksum of 0 means that there is none, which is accepted if
// udp_may_lack_it. Over IPv6, there must be one (RFC 8200 8.1).
bool checksums_right(const Claimed& claimed, bool udp_may_lack_it) {
  const auto& layout = *claimed.layout;
  const auto* frame = claimed.frame;
  if (layout.ipv4() && !ipv4_checksum_right(frame + layout.ip)) return false;
  if (!layout.tcp() && load<std::uint16_t>(frame + layout.checksum()) == 0) {
    return udp_may_lack_it && layout.ipv4();
  }
  const auto upper_octets = static_cast<std::uint16_t>(claimed.size - layout.upper);
  const auto sum = sum_words(frame + layout.source, 2U * layout.address_octets) +
                   sum_words(frame + layout.upper, upper_octets) + swap16(upper_octets) +
                   swap16(layout.protocol());
  return fold(sum) == 0xffffU;
}

}  // namespace

Defect defect_of_form(const Claimed& claimed, bool udp_may_lack_checksum) {
  if (!well_formed(claimed)) return Defect::kMalformed;
  if (!tunnel_right(claimed)) return Defect::kTunnel;
  if (!checksums_right(claimed, udp_may_lack_checksum)) return Defect::kChecksum;
  return Defect::kNone;
}

Arrival::Arrival(const spec::Traffic& traffic, const Link& link, const TcpNumbers& numbers)
    : layout_(&layout_of(traffic.arrival, link.vlans.size())),
      learns_source_(learned(traffic)),
      may_lack_checksum_(layout_->ipv4() && !traffic.udp_checksum_required),
      slots_(expected_format(traffic), traffic.networks, kBase),
      numbers_(numbers) {
  const auto size = layout_->address_octets;
  auto* to = addresses_.data() + kBase;
  const auto format = expected_format(traffic);
  std::copy_n(format.source.octets.begin(), size, to);
  std::copy_n(format.destination.octets.begin(), size, to + size);
  auto fixed = addresses_;
  slots_.write(fixed.data(), {});
  if (const auto& tunnel = format.tunnel) {
    auto* outer = tunnel_addresses_.data() + kBase;
    const auto octets = spec::address_octets(tunnel->ip_version);
    std::copy_n(tunnel->source.octets.begin(), octets, outer);
    std::copy_n(tunnel->destination.octets.begin(), octets, outer + octets);
    tunnel_slots_ = AddressSlots(*tunnel, traffic.networks, kBase);
  }
  const auto frame = make_frame(format, traffic, link);
  octets_ = static_cast<std::uint32_t>(frame.size());
  const auto upper_octets = static_cast<std::uint16_t>(octets_ - layout_->upper);
  pseudo_sum_ = fold(sum_words(fixed.data() + kBase, 2U * size) + swap16(upper_octets) +
                     swap16(layout_->protocol()));
  udp_length_ = std::uint64_t{swap16(upper_octets)} << 32U;
  if (layout_->tcp()) tcp_fixed_ = load<std::uint32_t>(frame.data() + layout_->upper + 12);
  headers_ = HeaderMask(*layout_, traffic, frame);
  auto changed = traffic;
  changed.dscp_kept = false;
  own_headers_ = HeaderMask(*layout_, changed, frame);
}

Defect Arrival::check(const Claimed& claimed, const flow::Values& values,
                      HopLimits hop_limits) const {
  if (claimed.layout != layout_) return Defect::kMalformed;
  const auto* frame = claimed.frame;
  if (claimed.size != octets_) return Defect::kLength;
  if (layout_->tunnelled() && !tunnel_matches(frame, values, hop_limits.outer)) {
    return Defect::kTunnel;
  }
  auto expected = addresses_;
  slots_.write(expected.data(), values);
  const auto* seen = frame + layout_->source;
  const bool right_addresses = learns_source_ ? same_destination(seen, expected.data() + kBase)
                                              : same(seen, expected.data() + kBase);
  if (!right_addresses) return Defect::kAddress;
  const auto ports = static_cast<std::uint32_t>(swap16(values.source_port)) |
                     static_cast<std::uint32_t>(swap16(values.destination_port)) << 16U;
  if (load<std::uint32_t>(frame + layout_->upper) != ports) return Defect::kPort;
  if (layout_->tcp() && !tcp_numbers_match(claimed)) return Defect::kSequence;
  if (frame[layout_->hop_limit] != hop_limits.inner) return Defect::kHopLimit;
  if (layout_->tcp() && !tcp_fixed_matches(frame + layout_->upper)) return Defect::kHeader;
  if (headers_.matches(frame)) return Defect::kNone;
  return own_headers_.matches(frame) ? Defect::kTrafficClass : Defect::kHeader;
}

}  // namespace natxy::frame
