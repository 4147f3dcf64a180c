#include "frame/layout.hpp"

#include <algorithm>
#include <deque>
#include <mutex>

#include "frame/tcp.hpp"

namespace natxy::frame {
namespace {

Layout made(const spec::PacketFormat& format, std::size_t vlan_tags) {
  const auto first = static_cast<std::uint16_t>(kEthernetOctets + vlan_tags * kVlanTagOctets);
  const auto ip = static_cast<std::uint16_t>(first + (format.tunnel ? kIpv6Octets : 0));
  const auto at = [ip](std::size_t offset) { return static_cast<std::uint16_t>(ip + offset); };
  const auto stamp = format.transport == spec::Transport::kTcp ? kTcpStamp : kUdpOctets;
  if (format.ip_version == spec::IpVersion::k4) {
    return {.ip_version = spec::IpVersion::k4,
            .first = first,
            .ip = ip,
            .source = at(12),
            .destination = at(16),
            .address_octets = 4,
            .hop_limit = at(8),
            .upper = at(20),
            .stamp = at(20 + stamp),
            .transport = format.transport};
  }
  const auto upper = kIpv6Octets + format.extension_headers.size() * kExtensionHeaderOctets;
  return {.ip_version = spec::IpVersion::k6,
          .first = first,
          .ip = ip,
          .source = at(8),
          .destination = at(24),
          .address_octets = 16,
          .hop_limit = at(7),
          .upper = at(upper),
          .stamp = at(upper + stamp),
          .transport = format.transport};
}

}  // namespace

const Layout& layout_of(const spec::PacketFormat& format, std::size_t vlan_tags) {
  static std::mutex mutex;
  static std::deque<Layout> known;  // its elements do not move
  const auto wanted = made(format, vlan_tags);
  const std::scoped_lock lock(mutex);
  const auto found = std::ranges::find(known, wanted);
  return found != known.end() ? *found : known.emplace_back(wanted);
}

const Layout& layout_of(spec::IpVersion version) {
  return layout_of(spec::PacketFormat{.ip_version = version}, 0);
}

}  // namespace natxy::frame
