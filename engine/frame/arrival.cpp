#include "frame/arrival.hpp"

#include <algorithm>

namespace natxy::frame {

namespace {

// Returns whether the gateway chooses the source on arrival, as it does for the initiator's frames.
bool learned(const spec::Traffic& traffic) {
  return traffic.connections && traffic.connections->role != spec::Role::kRespond;
}

spec::AddressPair expected_pair(const spec::Traffic& traffic) {
  auto pair = traffic.arrival;
  if (learned(traffic)) pair.source = {};
  return pair;
}

}  // namespace

Arrival::Arrival(const spec::Traffic& traffic, std::uint16_t frame_size_bytes)
    : layout_(&layout_of(traffic.arrival.ip_version)),
      octets_(
          static_cast<std::uint32_t>(frame_octets(traffic.arrival.ip_version, frame_size_bytes))),
      learns_source_(learned(traffic)),
      may_lack_checksum_(traffic.arrival.ip_version == spec::IpVersion::k4 &&
                         !traffic.udp_checksum_required),
      slots_(expected_pair(traffic), traffic.networks, kBase) {
  const auto size = layout_->address_octets;
  auto* to = addresses_.data() + kBase;
  const auto pair = expected_pair(traffic);
  std::copy_n(pair.source.octets.begin(), size, to);
  std::copy_n(pair.destination.octets.begin(), size, to + size);
  auto fixed = addresses_;
  slots_.write(fixed.data(), {});
  const auto udp_octets = static_cast<std::uint16_t>(octets_ - layout_->udp);
  pseudo_sum_ =
      fold(sum_words(fixed.data() + kBase, 2U * size) + swap16(udp_octets) + swap16(kProtocolUdp));
  udp_length_ = std::uint64_t{swap16(udp_octets)} << 32U;
  const bool four = layout_->ip_version == spec::IpVersion::k4;
  ip_mask_ = four ? kIpv4Mask : kIpv6Mask;
  if (traffic.dscp_kept) ip_mask_ |= four ? kIpv4Kept : kIpv6Kept;
  if (four) {
    const auto ip_octets = static_cast<std::uint16_t>(octets_ - kEthernetOctets);
    ip_first_ = 0x45U | std::uint64_t{swap16(ip_octets)} << 16U;
  } else {
    ip_first_ =
        0x60U | std::uint64_t{swap16(udp_octets)} << 32U | std::uint64_t{kProtocolUdp} << 48U;
  }
}

}  // namespace natxy::frame
