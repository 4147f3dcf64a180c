#include "gateway/nat/connection_table.hpp"

#include <numeric>

namespace natxy::gateway {

ConnectionTable::ConnectionTable(EntryNumber entries)
    : entries_(entries),
      free_(entries),
      by_inside_(entries),
      by_external_(entries),
      order_(entries) {
  std::iota(free_.rbegin(), free_.rend(), EntryNumber{0});
}

EntryNumber ConnectionTable::find(const InsideEndpoint& inside, const Ipv4Endpoint& remote) const {
  return by_inside_.find(hash_of(inside, remote), [&](EntryNumber entry) {
    return at(entry).inside == inside && at(entry).remote == remote;
  });
}

EntryNumber ConnectionTable::find(const Ipv4Endpoint& external, const Ipv4Endpoint& remote) const {
  return by_external_.find(hash_of(external, remote), [&](EntryNumber entry) {
    return at(entry).external == external && at(entry).remote == remote;
  });
}

EntryNumber ConnectionTable::add(const Connection& connection, Nanoseconds now_ns) {
  const auto entry = free_.back();
  free_.pop_back();
  entries_[entry] = {.connection = connection, .used_ns = now_ns, .ordinal = ++added_};
  by_inside_.insert(hash_of(connection.inside, connection.remote), entry);
  by_external_.insert(hash_of(connection.external, connection.remote), entry);
  order_.append(entry);
  return entry;
}

void ConnectionTable::remove(EntryNumber entry) {
  const auto& connection = at(entry);
  by_inside_.erase(hash_of(connection.inside, connection.remote), entry);
  by_external_.erase(hash_of(connection.external, connection.remote), entry);
  order_.remove(entry);
  entries_[entry].ordinal = 0;
  free_.push_back(entry);
}

void ConnectionTable::use(EntryNumber entry, Nanoseconds now_ns) {
  entries_[entry].used_ns = now_ns;
  order_.use(entry);
}

void ConnectionTable::change_external(EntryNumber entry, const Ipv4Endpoint& external) {
  auto& connection = entries_[entry].connection;
  by_external_.erase(hash_of(connection.external, connection.remote), entry);
  connection.external = external;
  by_external_.insert(hash_of(external, connection.remote), entry);
}

EntryNumber ConnectionTable::find_ordinal(std::uint64_t wanted) const {
  auto entry = order_.oldest();
  while (entry != kNoEntry && ordinal(entry) != wanted) entry = order_.behind(entry);
  return entry;
}

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
