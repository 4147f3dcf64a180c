// Endpoint-independent mappings (RFC 4787, 4.1; the binding information base of RFC 6146): the
// external endpoint of an inside endpoint, for all remote endpoints, while it has a connection.
#pragma once

#include <cstdint>
#include <vector>

#include "gateway/nat/connection.hpp"
#include "gateway/nat/hash_index.hpp"

namespace natxy::gateway {

class MappingTable {
 public:
  explicit MappingTable(EntryNumber entries);

  struct Mapping {
    InsideEndpoint inside;
    Ipv4Endpoint external;
    std::uint32_t connections = 0;
  };

  // Return a mapping; null if there is none. If two have the same external endpoint, the newer one.
  [[nodiscard]] const Mapping* find(const InsideEndpoint& inside) const;
  [[nodiscard]] const Mapping* find(const Ipv4Endpoint& external) const;

  // Adds a connection of the inside endpoint. Returns true if it is the first one, which creates
  // the mapping.
  bool join(const InsideEndpoint& inside, const Ipv4Endpoint& external);
  // Removes a connection. Returns true if it was the last one, which removes the mapping.
  bool leave(const InsideEndpoint& inside);

 private:
  [[nodiscard]] EntryNumber number_of(const InsideEndpoint& inside) const;
  [[nodiscard]] const Mapping* at(EntryNumber entry) const {
    return entry == kNoEntry ? nullptr : &mappings_[entry];
  }

  std::vector<Mapping> mappings_;
  std::vector<EntryNumber> free_;
  HashIndex by_inside_;
  HashIndex by_external_;
};

}  // namespace natxy::gateway
