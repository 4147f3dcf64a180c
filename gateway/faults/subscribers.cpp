#include "gateway/faults/subscribers.hpp"

namespace natxy::gateway {
namespace {

constexpr unsigned kPortBits = 16;
constexpr unsigned kInterfaceBits = 64;  // of an IPv6 address, after the subscriber's subnet

}  // namespace

Subscribers::Subscribers(const Config& config) {
  if (config.softwires) {
    map_ = config.softwires->map;
  } else if (config.translation) {
    map_ = *config.translation;
  }
  map_.prefix.reset();
}

std::optional<std::uint16_t> Subscribers::other_port(const IpAddress& address,
                                                     std::uint16_t port) const {
  const auto* rule = map_.rule_of(address);
  if (rule == nullptr || rule->psid_bits() == 0) return std::nullopt;
  const auto after_psid = kPortBits - rule->psid_offset - rule->psid_bits();
  return static_cast<std::uint16_t>(port ^ 1U << after_psid);
}

// Tries another subscriber with the same address, then the one with the next address. Where only
// the stateful translation knows the subscribers, their subnets differ.
IpAddress Subscribers::other_end(const IpAddress& end, const IpAddress& inner, Port port) const {
  if (const auto other = port ? other_port(inner, *port) : std::nullopt) {
    if (const auto found = map_.to_ipv6(inner, other)) return *found;
  }
  const auto beside = IpAddress::ipv4(static_cast<std::uint32_t>(inner.value) ^ 1U);
  if (const auto found = map_.to_ipv6(beside, port)) return *found;
  return IpAddress::ipv6(end.value ^ Uint128{1} << kInterfaceBits);
}

}  // namespace natxy::gateway
