#include "port/ip_address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "spec/trial_spec.hpp"

namespace natxy::port {

std::string to_text(const IpAddress& address) {
  const int family = address.version == spec::IpVersion::k4 ? AF_INET : AF_INET6;
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(family, address.octets.data(), text, sizeof text);
  return text;
}

std::string to_text(const Mac& mac) {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
                mac[4], mac[5]);
  return text;
}

IpAddress parse_address(const std::string& text) {
  IpAddress address;
  if (inet_pton(AF_INET, text.c_str(), address.octets.data()) == 1) return address;
  address.version = spec::IpVersion::k6;
  if (inet_pton(AF_INET6, text.c_str(), address.octets.data()) == 1) return address;
  throw std::invalid_argument("\"" + text + "\" is not an IP address");
}

void AddressSet::add(spec::IpVersion version, const spec::AddressPattern& pattern) {
  Masked masked{.value = {.version = version, .octets = pattern.octets}, .mask = {}};
  masked.mask.fill(0xff);
  if (pattern.network_byte) masked.mask[*pattern.network_byte] = 0;
  spec::put_field(masked.mask.data(), pattern.field, 0);
  insert(masked);
}

void AddressSet::add(const IpAddress& address) {
  add(address.version, {.octets = address.octets});
}

void AddressSet::insert(const Masked& masked) {
  auto member = masked;
  for (std::size_t i = 0; i < member.mask.size(); ++i) member.value.octets[i] &= member.mask[i];
  if (std::ranges::find(members_, member) == members_.end()) members_.push_back(member);
}

bool AddressSet::contains(const IpAddress& address) const {
  return std::ranges::any_of(members_, [&](const Masked& member) {
    if (member.value.version != address.version) return false;
    for (std::size_t i = 0; i < member.mask.size(); ++i) {
      if ((address.octets[i] & member.mask[i]) != member.value.octets[i]) return false;
    }
    return true;
  });
}

}  // namespace natxy::port
