#include "frame/layout.hpp"

#include <algorithm>
#include <deque>
#include <mutex>

#include "frame/tcp.hpp"

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
const Layout& the_one(const Layout& wanted) {
  static std::mutex mutex;
  static std::deque<Layout> known;  // its elements do not move
  const std::scoped_lock lock(mutex);
  const auto found = std::ranges::find(known, wanted);
  return found != known.end() ? *found : known.emplace_back(wanted);
}

}  // namespace

const Layout& layout_of(const spec::PacketFormat& format, std::size_t vlan_tags) {
  return the_one(made(format, vlan_tags));
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
  return the_one(moved);
}

}  // namespace natxy::frame
