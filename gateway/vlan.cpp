#include "gateway/vlan.hpp"

#include <algorithm>

namespace natxy::gateway {
namespace {

constexpr std::size_t kAddresses = 12;  // octets of the MAC addresses, which are before the tags
constexpr std::uint16_t kIdMask = 0x0fff;

}  // namespace

std::optional<Octets> without_tags(Octets frame, const VlanTags& tags,
                                   std::vector<std::uint8_t>& scratch) {
  if (tags.empty()) return frame;
  const auto begin = kAddresses + tags.size() * kVlanTagOctets;
  if (frame.size() < begin) return std::nullopt;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const auto* at = frame.data() + kAddresses + i * kVlanTagOctets;
    if (read16(at) != tags[i].type || (read16(at + 2) & kIdMask) != tags[i].id) return std::nullopt;
  }
  scratch.assign(frame.begin(), frame.begin() + kAddresses);
  scratch.insert(scratch.end(), frame.begin() + static_cast<std::ptrdiff_t>(begin), frame.end());
  return Octets(scratch);
}

std::size_t write_with_tags(std::uint8_t* to, Octets frame, const VlanTags& tags) {
  std::copy_n(frame.begin(), kAddresses, to);
  auto* at = to + kAddresses;
  for (const auto& tag : tags) {
    write16(at, tag.type);
    write16(at + 2, tag.id);
    at += kVlanTagOctets;
  }
  std::copy(frame.begin() + kAddresses, frame.end(), at);
  return frame.size() + tags.size() * kVlanTagOctets;
}

}  // namespace natxy::gateway
