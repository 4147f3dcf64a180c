#include "port/address_set.hpp"

#include <algorithm>

#include "spec/trial_spec.hpp"

namespace natxy::port {

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
