#include "gateway/nat/mapping_table.hpp"

#include <numeric>

namespace natxy::gateway {

MappingTable::MappingTable(EntryNumber entries)
    : mappings_(entries), free_(entries), by_inside_(entries), by_external_(entries) {
  std::iota(free_.rbegin(), free_.rend(), EntryNumber{0});
}

EntryNumber MappingTable::number_of(const InsideEndpoint& inside) const {
  return by_inside_.find(hash_of(inside),
                         [&](EntryNumber entry) { return mappings_[entry].inside == inside; });
}

const MappingTable::Mapping* MappingTable::find(const InsideEndpoint& inside) const {
  return at(number_of(inside));
}

const MappingTable::Mapping* MappingTable::find(const Ipv4Endpoint& external) const {
  return at(by_external_.find(
      hash_of(external), [&](EntryNumber entry) { return mappings_[entry].external == external; }));
}

bool MappingTable::join(const InsideEndpoint& inside, const Ipv4Endpoint& external) {
  auto entry = number_of(inside);
  const auto is_first = entry == kNoEntry;
  if (is_first) {
    entry = free_.back();
    free_.pop_back();
    mappings_[entry] = {.inside = inside, .external = external, .connections = 0};
    by_inside_.insert(hash_of(inside), entry);
    by_external_.insert(hash_of(external), entry);
  }
  ++mappings_[entry].connections;
  return is_first;
}

bool MappingTable::leave(const InsideEndpoint& inside) {
  const auto entry = number_of(inside);
  auto& mapping = mappings_[entry];
  if (--mapping.connections != 0) return false;
  by_inside_.erase(hash_of(inside), entry);
  by_external_.erase(hash_of(mapping.external), entry);
  free_.push_back(entry);
  return true;
}

}  // namespace natxy::gateway
