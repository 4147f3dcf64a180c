// Endpoint-independent mappings (RFC 4787, 4.1; RFC 6146's binding information base): which
// external endpoint an inside one has, whatever it speaks to, as long as it has a connection.
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

  // Null: there is none. Of two with one external endpoint the newer.
  [[nodiscard]] const Mapping* find(const InsideEndpoint& inside) const;
  [[nodiscard]] const Mapping* find(const Ipv4Endpoint& external) const;

  // A connection of the inside endpoint, which makes its mapping if it is the first.
  void join(const InsideEndpoint& inside, const Ipv4Endpoint& external);
  // The last one takes the mapping with it.
  void leave(const InsideEndpoint& inside);

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
