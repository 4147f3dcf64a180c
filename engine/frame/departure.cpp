#include "frame/departure.hpp"

namespace natxy::frame {
namespace {

bool responds(const spec::Traffic& traffic) {
  return traffic.connections && traffic.connections->role == spec::Role::kRespond;
}

}  // namespace

Departure::Departure(const spec::Traffic& traffic, const Link& link, const TcpNumbers& numbers)
    : tcp_(traffic.departure.transport == spec::Transport::kTcp), numbers_(numbers) {
  auto format = traffic.departure;
  if (responds(traffic)) format.destination = {};  // each frame has its own destination
  const auto& layout = layout_of(format, link.vlans.size());
  octets_ = make_frame(format, traffic, link);
  upper_ = layout.upper;
  destination_ = layout.destination;
  slots_ = AddressSlots(format, traffic.networks, layout.source);
  if (format.tunnel) {
    tunnelled_ = true;
    tunnel_slots_ = AddressSlots(*format.tunnel, traffic.networks, layout.link_source());
    if (layout.link_version == spec::IpVersion::k4) {
      tunnel_checksum_ = prepare_ipv4(layout.first, tunnel_sum_);
    }
  }

  const auto upper_octets = octets_.size() - upper_;
  const auto length_word = swap16(static_cast<std::uint16_t>(upper_octets));
  const auto protocol_word = swap16(layout.protocol());
  const auto upper_words =
      sum_words(octets_.data() + upper_, upper_octets) + length_word + protocol_word;
  upper_sum_ =
      fold(sum_words(octets_.data() + layout.source, 2U * layout.address_octets) + upper_words);
  if (traffic.avoid_zero_checksum) prepare_arrival_sum(traffic, upper_words);
  if (layout.ipv4()) ip_checksum_ = prepare_ipv4(layout.ip, ip_sum_);
  identified_ = !traffic.dont_fragment && (ip_checksum_ != 0 || tunnel_checksum_ != 0);
}

std::uint16_t Departure::prepare_ipv4(std::size_t ip, std::uint64_t& sum) {
  const auto at = static_cast<std::uint16_t>(ip + kChecksumInIpv4);
  sum = sum_words(octets_.data() + ip, spec::ip_octets(spec::IpVersion::k4));
  put_checksum(octets_.data(), at, sum);
  return at;
}

void Departure::patch_tunnel(std::uint8_t* const* frames, unsigned n,
                             const flow::ValueLot& values) const {
  std::array<std::uint64_t, flow::kMaxLot> sums;
  for (unsigned i = 0; i < n; ++i) sums[i] = tunnel_slots_.write(frames[i], values.at(i));
  if (tunnel_checksum_ == 0) return;
  for (unsigned i = 0; i < n; ++i) put_checksum(frames[i], tunnel_checksum_, tunnel_sum_ + sums[i]);
}

void Departure::identify(std::uint8_t* const* frames, unsigned n, const StampLot& stamps) const {
  for (const auto checksum : {tunnel_checksum_, ip_checksum_}) {
    if (checksum == 0) continue;
    const auto ip = checksum - kChecksumInIpv4;
    for (unsigned i = 0; i < n; ++i) {
      const auto number = static_cast<std::uint16_t>(stamps.at(i).number());
      store(frames[i] + ip + kIdentificationInIpv4, swap16(number));
      store(frames[i] + checksum, std::uint16_t{0});
      const auto sum = sum_words(frames[i] + ip, spec::ip_octets(spec::IpVersion::k4));
      put_checksum(frames[i], checksum, sum);
    }
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
