#include <algorithm>
#include <optional>

#include "gateway/faults/chain.hpp"
#include "gateway/packet.hpp"

namespace natxy::gateway {
namespace {

constexpr std::size_t kNumberOctet = 9;  // most significant octet of the number in the stamp

// Returns the offset of the octet to change for a field of UDP or TCP.
std::optional<std::size_t> octet_of(const TransportHeader& upper, std::size_t end,
                                    CorruptField field) {
  const auto only_if = [](bool has_it, std::size_t at) {
    return has_it ? std::optional(at) : std::nullopt;
  };
  switch (field) {
    case CorruptField::kSourcePort:
      return upper.at + 1;
    case CorruptField::kDestinationPort:
      return upper.at + 3;
    case CorruptField::kUdpLength:
      return only_if(upper.is_udp(), upper.at + 5);
    case CorruptField::kUdpChecksum:
      return only_if(upper.is_udp(), upper.at + 7);
    case CorruptField::kSequence:
      return only_if(upper.is_tcp(), upper.at + 7);
    case CorruptField::kTcpFlags:
      return only_if(upper.is_tcp(), upper.at + 13);
    case CorruptField::kNumber:
      return only_if(upper.stamp() + kNumberOctet < end, upper.stamp() + kNumberOctet);
    case CorruptField::kPayload:
      return only_if(upper.data < end, end - 1);
    default:
      return std::nullopt;
  }
}

// Returns the offset of the octet to change for a field; absent if the frame has no such field.
std::optional<std::size_t> octet_of(const Anatomy& anatomy, CorruptField field) {
  const auto in_outer = [&anatomy](std::size_t offset) {
    return anatomy.outer ? std::optional(*anatomy.outer + offset) : std::nullopt;
  };
  switch (field) {
    case CorruptField::kSourceAddress:
      return anatomy.destination() - 1;
    case CorruptField::kDestinationAddress:
      return anatomy.destination_end() - 1;
    case CorruptField::kHopLimit:
      return anatomy.hop_limit();
    case CorruptField::kIpChecksum:
      if (anatomy.is_ipv6) return std::nullopt;
      return anatomy.ip_checksum() + 1;
    case CorruptField::kOuterHopLimit:
      return in_outer(7);
    case CorruptField::kOuterSource:
      return in_outer(23);
    case CorruptField::kOuterDestination:
      return in_outer(39);
    case CorruptField::kExtensionHeader:
      if (!anatomy.extended()) return std::nullopt;
      return anatomy.ip + kIpv6Octets + 7;
    default:
      if (!anatomy.upper) return std::nullopt;
      return octet_of(*anatomy.upper, anatomy.packet_end, field);
  }
}

// Returns whether the packet can become longer by this.
bool has_room(const Frame& frame, const Anatomy& anatomy, std::size_t octets,
              std::size_t max_packet_octets) {
  return anatomy.packet_end - anatomy.packet() + octets <= max_packet_octets &&
         frame.length + octets <= frame.capacity;
}

// The sums of all data that checksums cover.
struct Sums {
  std::uint64_t ipv4_header = 0;
  std::uint64_t upper = 0;  // with pseudo-header

  Sums(const Frame& frame, const Anatomy& anatomy) {
    const auto octets = frame.view();
    if (!anatomy.is_ipv6) {
      const std::size_t header = (octets[anatomy.ip] & 15U) * 4U;
      ipv4_header = sum_of(octets.subspan(anatomy.ip, header));
    }
    if (!anatomy.upper) return;
    const auto addresses = anatomy.source();
    const auto data = octets.subspan(anatomy.upper->at, anatomy.packet_end - anatomy.upper->at);
    upper = sum_of(octets.subspan(addresses, anatomy.destination_end() - addresses)) +
            sum_of(data) + data.size();
  }
};

// In UDP, 0 means "no checksum" (RFC 768) and stays 0.
void follow_upper_checksum(Frame& frame, const TransportHeader& upper, const Sums& before,
                           const Sums& after) {
  auto* at = frame.octets + upper.checksum();
  if (upper.is_udp() && read16(at) == 0) return;
  const auto checksum = follow(read16(at), before.upper, after.upper);
  write16(at, upper.is_udp() ? udp_form(checksum) : checksum);
}

void fix_checksums(Frame& frame, const Anatomy& anatomy, const Sums& before, const Sums& after) {
  if (!anatomy.is_ipv6) {
    auto* at = frame.octets + anatomy.ip_checksum();
    write16(at, follow(read16(at), before.ipv4_header, after.ipv4_header));
  }
  if (anatomy.upper) follow_upper_checksum(frame, *anatomy.upper, before, after);
}

bool change_octet(Frame& frame, const Anatomy& anatomy, CorruptField field) {
  const auto octet = octet_of(anatomy, field);
  if (!octet) return false;
  frame.octets[*octet] ^= 1U;
  const bool is_no_checksum =
      field == CorruptField::kUdpChecksum && read16(frame.octets + *octet - 1) == 0;
  if (is_no_checksum) frame.octets[*octet] = 2;  // 0 would mean "no checksum", which is not wrong
  return true;
}

// Changes a bit of IPv4's TOS. In IPv6, the same bit is the lowest one of the traffic class, which
// is not aligned.
bool change_traffic_class(Frame& frame, const Anatomy& anatomy) {
  frame.octets[anatomy.ip + 1] ^= 0x10U;
  return true;
}

// The port writes the tags.
bool change_vlan(Frame& frame) {
  frame.is_astray = true;
  return true;
}

bool keep_hop_limit(Frame& frame, const Anatomy& anatomy) {
  auto& hop_limit = frame.octets[anatomy.hop_limit()];
  if (hop_limit == 255) return false;
  ++hop_limit;
  return true;
}

bool remove_udp_checksum(Frame& frame, const Anatomy& anatomy) {
  if (!anatomy.upper || !anatomy.upper->is_udp()) return false;
  write16(frame.octets + anatomy.upper->checksum(), 0);
  return true;
}

void add16(std::uint8_t* at, std::uint32_t value) {
  write16(at, read16(at) + value);
}

bool change_length(Frame& frame, Anatomy& anatomy, std::size_t max_packet_octets) {
  if (!anatomy.upper) return false;
  const auto& upper = *anatomy.upper;
  const bool grows = has_room(frame, anatomy, 1, max_packet_octets);
  if (!grows && anatomy.packet_end == upper.data) return false;
  const auto change = grows ? 1U : ~0U;
  add16(frame.octets + anatomy.ip_length(), change);
  if (anatomy.outer) add16(frame.octets + *anatomy.outer + 4, change);
  if (upper.is_udp()) add16(frame.octets + upper.at + 4, change);
  if (grows) frame.octets[anatomy.packet_end] = 0;
  anatomy.packet_end = grows ? anatomy.packet_end + 1 : anatomy.packet_end - 1;
  frame.length = anatomy.packet_end;
  return true;
}

// A place for a Fragment Header: before the octets at `at`, which the octet at `next_header` names.
struct FragmentPlace {
  std::size_t ip;  // the IPv6 header
  std::size_t next_header;
  std::size_t at;
};

// Makes the packet the first fragment of a longer one (RFC 8200, 4.5).
bool add_fragment_header(Frame& frame, Anatomy& anatomy, const FragmentPlace& place,
                         std::size_t max_packet_octets) {
  if (!has_room(frame, anatomy, kFragmentHeaderOctets, max_packet_octets)) return false;
  auto* at = frame.octets + place.at;
  std::copy_backward(at, frame.octets + frame.length,
                     frame.octets + frame.length + kFragmentHeaderOctets);
  std::fill_n(at, kFragmentHeaderOctets, std::uint8_t{0});
  at[0] = frame.octets[place.next_header];
  at[3] = 1;  // more fragments
  frame.octets[place.next_header] = kFragment;
  add16(frame.octets + place.ip + 4, kFragmentHeaderOctets);
  frame.length += kFragmentHeaderOctets;
  anatomy.packet_end += kFragmentHeaderOctets;
  return true;
}

// Adds the header behind all extension headers.
bool fragment_ipv6(Frame& frame, Anatomy& anatomy, std::size_t max_packet_octets) {
  if (!anatomy.upper) return false;
  FragmentPlace place{
      .ip = anatomy.ip, .next_header = anatomy.ip + 6, .at = anatomy.ip + kIpv6Octets};
  while (place.at < anatomy.upper->at) {
    place.next_header = place.at;
    place.at += (frame.octets[place.at + 1] + std::size_t{1}) * 8;
  }
  if (!add_fragment_header(frame, anatomy, place, max_packet_octets)) return false;
  anatomy.upper->at += kFragmentHeaderOctets;
  anatomy.upper->data += kFragmentHeaderOctets;
  return true;
}

bool make_fragment(Frame& frame, Anatomy& anatomy, std::size_t max_packet_octets) {
  if (anatomy.is_ipv6) return fragment_ipv6(frame, anatomy, max_packet_octets);
  frame.octets[anatomy.ip + 6] ^= 0x20U;  // more fragments (RFC 791)
  return true;
}

// No checksum covers the header that is added. What follows it is not dissected again.
bool make_outer_fragment(Frame& frame, Anatomy& anatomy, std::size_t max_packet_octets) {
  if (!anatomy.outer) return false;
  const auto outer = *anatomy.outer;
  const FragmentPlace place{.ip = outer, .next_header = outer + 6, .at = outer + kIpv6Octets};
  if (!add_fragment_header(frame, anatomy, place, max_packet_octets)) return false;
  anatomy.ip += kFragmentHeaderOctets;
  if (!anatomy.upper) return true;
  anatomy.upper->at += kFragmentHeaderOctets;
  anatomy.upper->data += kFragmentHeaderOctets;
  return true;
}

IpAddress address_at(const Frame& frame, std::size_t at, bool is_ipv6) {
  return is_ipv6 ? IpAddress::read_ipv6(frame.octets + at)
                 : IpAddress::read_ipv4(frame.octets + at);
}

// The subscriber is the destination, or else the source.
bool change_port_set(Frame& frame, const Anatomy& anatomy, const Subscribers& subscribers) {
  if (!anatomy.upper) return false;
  const auto change = [&](std::size_t address, std::size_t port) {
    auto* at = frame.octets + port;
    const auto other =
        subscribers.other_port(address_at(frame, address, anatomy.is_ipv6), read16(at));
    if (other) write16(at, *other);
    return other.has_value();
  };
  const auto ports = anatomy.upper->at;
  return change(anatomy.destination(), ports + 2) || change(anatomy.source(), ports);
}

bool change_softwire(Frame& frame, const Anatomy& anatomy, const Subscribers& subscribers) {
  if (!anatomy.outer) return false;
  const auto far_end = *anatomy.outer + 24;
  const auto port = anatomy.upper ? Port(read16(frame.octets + anatomy.upper->at + 2)) : Port();
  const auto other = subscribers.other_end(address_at(frame, far_end, true),
                                           address_at(frame, anatomy.destination(), false), port);
  other.write(frame.octets + far_end);
  return true;
}

// Changes a field that checksums may cover.
bool change_field(Frame& frame, Anatomy& anatomy, CorruptField field,
                  const CorruptionSetting& setting) {
  switch (field) {
    case CorruptField::kLength:
      return change_length(frame, anatomy, setting.max_packet_octets);
    case CorruptField::kTrafficClass:
      return change_traffic_class(frame, anatomy);
    case CorruptField::kHopLimitKept:
      return keep_hop_limit(frame, anatomy);
    case CorruptField::kFragmented:
      return make_fragment(frame, anatomy, setting.max_packet_octets);
    case CorruptField::kOuterFragmented:
      return make_outer_fragment(frame, anatomy, setting.max_packet_octets);
    case CorruptField::kPortSet:
      return change_port_set(frame, anatomy, setting.subscribers);
    case CorruptField::kSoftwire:
      return change_softwire(frame, anatomy, setting.subscribers);
    default:
      return change_octet(frame, anatomy, field);
  }
}

}  // namespace

bool corrupt(Frame& frame, const Corrupt& order, const CorruptionSetting& setting) {
  auto anatomy = dissect(frame);
  if (!anatomy) return false;
  const auto field = order.field;
  if (field == CorruptField::kNoUdpChecksum) return remove_udp_checksum(frame, *anatomy);
  if (field == CorruptField::kVlan) return change_vlan(frame);
  const Sums before(frame, *anatomy);
  const bool is_changed = change_field(frame, *anatomy, field, setting);
  const bool is_checksum =
      field == CorruptField::kUdpChecksum || field == CorruptField::kIpChecksum;
  if (is_changed && order.fix_checksum && !is_checksum) {
    fix_checksums(frame, *anatomy, before, Sums(frame, *anatomy));
  }
  return is_changed;
}

}  // namespace natxy::gateway
