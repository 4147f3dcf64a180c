#include "frame/departure.hpp"

#include <algorithm>

namespace natxy::frame {
namespace {

void put16(std::vector<std::uint8_t>& octets, std::size_t at, std::size_t value) {
  octets[at] = static_cast<std::uint8_t>(value >> 8U);
  octets[at + 1] = static_cast<std::uint8_t>(value);
}

void put_ethernet(std::vector<std::uint8_t>& octets, const Link& link, spec::IpVersion version) {
  std::ranges::copy(link.destination, octets.begin());
  std::ranges::copy(link.source, octets.begin() + 6);
  put16(octets, 12, version == spec::IpVersion::k4 ? 0x0800 : 0x86dd);
}

// Writes an IPv4 header (RFC 791) without options and with identification 0 (RFC 6864: an atomic
// datagram, which has DF, needs none).
void put_ipv4(std::vector<std::uint8_t>& octets, const spec::Traffic& traffic) {
  octets[14] = 0x45;
  put16(octets, 16, octets.size() - kEthernetOctets);
  octets[20] = traffic.dont_fragment ? 0x40 : 0;
  octets[kIpv4Layout.hop_limit] = traffic.hop_limit;
  octets[23] = kProtocolUdp;
}

void put_ipv6(std::vector<std::uint8_t>& octets, const spec::Traffic& traffic) {
  octets[14] = 0x60;
  put16(octets, 18, octets.size() - kIpv6Layout.udp);
  octets[20] = kProtocolUdp;
  octets[kIpv6Layout.hop_limit] = traffic.hop_limit;
}

// Writes the address with zeros in its varying parts.
void put_address(std::vector<std::uint8_t>& octets, std::size_t at,
                 const spec::AddressPattern& pattern, std::size_t size, bool networks) {
  std::copy_n(pattern.octets.begin(), size, octets.begin() + static_cast<std::ptrdiff_t>(at));
  if (networks && pattern.network_byte) octets[at + *pattern.network_byte] = 0;
  if (pattern.field_byte) put16(octets, at + *pattern.field_byte, 0);
}

// Writes the data after the stamp: increasing octets from 0 (RFC 2544 C.2.6.4).
void put_data(std::vector<std::uint8_t>& octets, std::size_t at) {
  for (std::uint8_t value = 0; at < octets.size(); ++at) octets[at] = value++;
}

bool responds(const spec::Traffic& traffic) {
  return traffic.connections && traffic.connections->role == spec::Role::kRespond;
}

}  // namespace

Departure::Departure(const spec::Traffic& traffic, std::uint16_t frame_size_bytes, const Link& link)
    : octets_(frame_octets(traffic.departure.ip_version, frame_size_bytes)) {
  auto pair = traffic.departure;
  if (responds(traffic)) pair.destination = {};  // each frame has its own destination
  const auto& layout = layout_of(pair.ip_version);
  udp_ = layout.udp;
  destination_ = layout.destination;
  slots_ = AddressSlots(pair, traffic.networks, layout.source);
  put_ethernet(octets_, link, pair.ip_version);
  pair.ip_version == spec::IpVersion::k4 ? put_ipv4(octets_, traffic) : put_ipv6(octets_, traffic);
  put_address(octets_, layout.source, pair.source, layout.address_octets, traffic.networks > 1);
  put_address(octets_, layout.destination, pair.destination, layout.address_octets,
              traffic.networks > 1);
  const auto udp_octets = octets_.size() - udp_;
  put16(octets_, udp_ + 4U, udp_octets);
  put_data(octets_, layout.min_octets());

  const auto length_word = swap16(static_cast<std::uint16_t>(udp_octets));
  const auto protocol_word = swap16(kProtocolUdp);
  const auto udp_words = sum_words(octets_.data() + udp_, udp_octets) + length_word + protocol_word;
  udp_sum_ =
      fold(sum_words(octets_.data() + layout.source, 2U * layout.address_octets) + udp_words);
  if (traffic.avoid_zero_checksum) prepare_arrival_sum(traffic, udp_words);
  if (pair.ip_version == spec::IpVersion::k4) {
    ip_checksum_ = 24;
    ip_sum_ = sum_words(octets_.data() + kEthernetOctets, 20);
    store(octets_.data() + ip_checksum_, static_cast<std::uint16_t>(~fold(ip_sum_)));
  }
}

void Departure::prepare_arrival_sum(const spec::Traffic& traffic, std::uint64_t udp_words) {
  const auto size = layout_of(traffic.arrival.ip_version).address_octets;
  arrival_slots_ = AddressSlots(traffic.arrival, traffic.networks, kArrivalBase);
  std::array<std::uint8_t, kArrivalBase + 32> addresses{};
  auto* to = addresses.data() + kArrivalBase;
  std::copy_n(traffic.arrival.source.octets.begin(), size, to);
  std::copy_n(traffic.arrival.destination.octets.begin(), size, to + size);
  arrival_slots_.write(addresses.data(), {});
  arrival_sum_ = fold(sum_words(to, 2U * size) + udp_words);
}

}  // namespace natxy::frame
