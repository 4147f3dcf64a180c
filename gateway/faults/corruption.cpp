#include "gateway/faults/corruption.hpp"

#include <optional>

#include "gateway/checksum.hpp"
#include "gateway/faults/anatomy.hpp"

namespace natxy::gateway {
namespace {

constexpr std::size_t kNumberOctet = 9;  // most significant octet of the number in the stamp

// Returns the offset of the octet to change for a field; absent if the frame has no such field.
std::optional<std::size_t> octet_of(const Anatomy& anatomy, CorruptField field) {
  switch (field) {
    case CorruptField::kSourceAddress:
      return anatomy.source_end() - 1;
    case CorruptField::kDestinationAddress:
      return anatomy.destination_end() - 1;
    case CorruptField::kHopLimit:
      return anatomy.hop_limit();
    case CorruptField::kIpChecksum:
      if (anatomy.is_ipv6) return std::nullopt;
      return anatomy.ip_checksum() + 1;
    case CorruptField::kOuterSource:
      if (!anatomy.outer) return std::nullopt;
      return *anatomy.outer + 23;
    case CorruptField::kOuterDestination:
      if (!anatomy.outer) return std::nullopt;
      return *anatomy.outer + 39;
    case CorruptField::kExtensionHeader:
      if (!anatomy.extended()) return std::nullopt;
      return anatomy.ip + kIpv6Octets + 7;
    default:
      break;
  }
  if (!anatomy.udp) return std::nullopt;
  const auto udp = *anatomy.udp;
  const auto data = udp + kUdpOctets;
  switch (field) {
    case CorruptField::kSourcePort:
      return udp + 1;
    case CorruptField::kDestinationPort:
      return udp + 3;
    case CorruptField::kUdpLength:
      return udp + 5;
    case CorruptField::kUdpChecksum:
      return udp + 7;
    case CorruptField::kNumber:
      if (data + kNumberOctet >= anatomy.packet_end) return std::nullopt;
      return data + kNumberOctet;
    default:
      if (data >= anatomy.packet_end) return std::nullopt;
      return anatomy.packet_end - 1;  // payload
  }
}

void follow_udp_checksum(Frame& frame, std::size_t udp, std::uint64_t removed,
                         std::uint64_t added) {
  auto* at = frame.octets + udp + 6;
  if (read16(at) != 0) write16(at, udp_form(follow(read16(at), removed, added)));
}

// The sums of all data that checksums cover.
struct Sums {
  std::uint64_t ipv4_header = 0;
  std::uint64_t datagram = 0;  // with pseudo-header

  Sums(const Frame& frame, const Anatomy& anatomy) {
    const auto octets = frame.view();
    if (!anatomy.is_ipv6) {
      const std::size_t header = (octets[anatomy.ip] & 15U) * 4U;
      ipv4_header = sum_of(octets.subspan(anatomy.ip, header));
    }
    if (!anatomy.udp) return;
    const auto addresses = anatomy.ip + (anatomy.is_ipv6 ? 8 : 12);
    const auto data = octets.subspan(*anatomy.udp, anatomy.packet_end - *anatomy.udp);
    datagram = sum_of(octets.subspan(addresses, anatomy.destination_end() - addresses)) +
               sum_of(data) + data.size();
  }
};

void fix_checksums(Frame& frame, const Anatomy& anatomy, const Sums& before, const Sums& after) {
  if (!anatomy.is_ipv6) {
    auto* at = frame.octets + anatomy.ip_checksum();
    write16(at, follow(read16(at), before.ipv4_header, after.ipv4_header));
  }
  if (anatomy.udp) follow_udp_checksum(frame, *anatomy.udp, before.datagram, after.datagram);
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

bool remove_udp_checksum(Frame& frame, const Anatomy& anatomy) {
  if (!anatomy.udp) return false;
  write16(frame.octets + *anatomy.udp + 6, 0);
  return true;
}

bool change_length(Frame& frame, Anatomy& anatomy, std::size_t max_packet_octets) {
  if (!anatomy.udp) return false;
  const auto udp = *anatomy.udp;
  const bool grows = anatomy.packet_end - anatomy.outer.value_or(anatomy.ip) < max_packet_octets;
  if (!grows && anatomy.packet_end == udp + kUdpOctets) return false;
  const auto change = [grows](std::uint8_t* at) { write16(at, read16(at) + (grows ? 1U : ~0U)); };
  change(frame.octets + anatomy.ip_length());
  if (anatomy.outer) change(frame.octets + *anatomy.outer + 4);
  change(frame.octets + udp + 4);
  if (grows) frame.octets[anatomy.packet_end] = 0;
  anatomy.packet_end = grows ? anatomy.packet_end + 1 : anatomy.packet_end - 1;
  frame.length = anatomy.packet_end;
  return true;
}

// Changes a field that checksums may cover.
bool change_field(Frame& frame, Anatomy& anatomy, CorruptField field,
                  std::size_t max_packet_octets) {
  if (field == CorruptField::kLength) return change_length(frame, anatomy, max_packet_octets);
  if (field == CorruptField::kTrafficClass) return change_traffic_class(frame, anatomy);
  return change_octet(frame, anatomy, field);
}

}  // namespace

bool corrupt(Frame& frame, CorruptField field, bool fix_checksum, std::size_t max_packet_octets) {
  auto anatomy = dissect(frame);
  if (!anatomy) return false;
  if (field == CorruptField::kNoUdpChecksum) return remove_udp_checksum(frame, *anatomy);
  if (field == CorruptField::kVlan) return change_vlan(frame);
  const Sums before(frame, *anatomy);
  const bool is_changed = change_field(frame, *anatomy, field, max_packet_octets);
  const bool is_checksum =
      field == CorruptField::kUdpChecksum || field == CorruptField::kIpChecksum;
  if (is_changed && fix_checksum && !is_checksum) {
    fix_checksums(frame, *anatomy, before, Sums(frame, *anatomy));
  }
  return is_changed;
}

}  // namespace natxy::gateway
