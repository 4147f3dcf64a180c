// The tables of the stateful translation: its connections and, with endpoint-independent mapping,
// its mappings.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "gateway/octets.hpp"

namespace natxy::gateway {

// A connection in the table: the inside endpoint, the remote endpoint and the external endpoint.
struct Ipv4Endpoint {
  std::uint32_t address = 0;
  std::uint16_t port = 0;
  std::uint8_t protocol = 0;  // of remote endpoints: kUdp or kTcp; else 0

  friend bool operator==(const Ipv4Endpoint&, const Ipv4Endpoint&) = default;
  [[nodiscard]] std::uint64_t number() const {
    return std::uint64_t{protocol} << 48U | std::uint64_t{address} << 16U | port;
  }
};

// An endpoint in IPv4 or IPv6; the owner of the table knows which. At an AFTR (RFC 6333, 6.6) it is
// an IPv4 endpoint behind a softwire, and `address` is the softwire's far end.
struct InsideEndpoint {
  Uint128 address = 0;
  std::uint16_t port = 0;
  std::uint32_t behind = 0;  // 0: no softwire

  friend bool operator==(const InsideEndpoint&, const InsideEndpoint&) = default;
};

struct Connection {
  InsideEndpoint inside;
  Ipv4Endpoint remote;    // with NAT64, the IPv4 address that is embedded in the IPv6 address
  Ipv4Endpoint external;  // the inside endpoint as seen from outside
};

// Mixes a value with MurmurHash3's finalizer: each input bit changes half of the output bits.
[[nodiscard]] inline std::uint64_t scramble(std::uint64_t value) {
  value = (value ^ value >> 33U) * 0xff51afd7ed558ccdU;
  value = (value ^ value >> 33U) * 0xc4ceb9fe1a85ec53U;
  return value ^ value >> 33U;
}

[[nodiscard]] inline std::uint64_t hash_of(const Ipv4Endpoint& endpoint) {
  return scramble(endpoint.number());
}

[[nodiscard]] inline std::uint64_t hash_of(const InsideEndpoint& endpoint) {
  const auto low = static_cast<std::uint64_t>(endpoint.address);
  const auto high = static_cast<std::uint64_t>(endpoint.address >> 64U);
  return scramble(scramble(low + endpoint.port * 0x9e3779b97f4a7c15U) + high + endpoint.behind);
}

template <typename Endpoint>
[[nodiscard]] std::uint64_t hash_of(const Endpoint& own, const Ipv4Endpoint& remote) {
  return scramble(hash_of(own) + remote.number());
}

// The number of an entry in the table.
using EntryNumber = std::uint32_t;
inline constexpr EntryNumber kNoEntry = UINT32_MAX;

// A chained hash index of a table's entries. All memory is allocated at the start. The table
// decides whether an entry with an equal hash is the wanted one.
class HashIndex {
 public:
  explicit HashIndex(EntryNumber entries)
      : buckets_(std::bit_ceil(std::size_t{entries}), kNoEntry), next_(entries, kNoEntry) {}

  // Inserts an entry before older ones with the same hash.
  void insert(std::uint64_t hash, EntryNumber entry) {
    auto& first = bucket(hash);
    next_[entry] = first;
    first = entry;
  }

  void erase(std::uint64_t hash, EntryNumber entry) {
    auto* link = &bucket(hash);
    while (*link != entry) link = &next_[*link];
    *link = next_[entry];
  }

  // Returns the newest entry for which `is_it(entry)` is true, or kNoEntry.
  template <typename IsIt>
  [[nodiscard]] EntryNumber find(std::uint64_t hash, IsIt is_it) const {
    auto entry = buckets_[hash & (buckets_.size() - 1)];
    while (entry != kNoEntry && !is_it(entry)) entry = next_[entry];
    return entry;
  }

 private:
  [[nodiscard]] EntryNumber& bucket(std::uint64_t hash) {
    return buckets_[hash & (buckets_.size() - 1)];
  }

  std::vector<EntryNumber> buckets_;
  std::vector<EntryNumber> next_;  // by entry
};

// The entries of a table in the order of their last use: a doubly linked list of entry numbers.
class UseOrder {
 public:
  explicit UseOrder(EntryNumber entries) : links_(entries) {}

  void append(EntryNumber entry) {
    links_[entry] = {.before = newest_, .behind = kNoEntry};
    (newest_ == kNoEntry ? oldest_ : links_[newest_].behind) = entry;
    newest_ = entry;
  }

  void remove(EntryNumber entry) {
    const auto [before, behind] = links_[entry];
    (before == kNoEntry ? oldest_ : links_[before].behind) = behind;
    (behind == kNoEntry ? newest_ : links_[behind].before) = before;
  }

  void use(EntryNumber entry) {
    if (entry == newest_) return;
    remove(entry);
    append(entry);
  }

  [[nodiscard]] EntryNumber oldest() const { return oldest_; }  // kNoEntry if there are no entries
  [[nodiscard]] EntryNumber behind(EntryNumber entry) const { return links_[entry].behind; }

 private:
  struct Links {
    EntryNumber before = kNoEntry;
    EntryNumber behind = kNoEntry;
  };

  std::vector<Links> links_;
  EntryNumber oldest_ = kNoEntry;
  EntryNumber newest_ = kNoEntry;
};

// A table with a maximum number of connections, which are found by either four-tuple in constant
// time and are in the order of their last use. All memory is allocated at the start.
class ConnectionTable {
 public:
  explicit ConnectionTable(EntryNumber entries);

  // Return the newest connection with this four-tuple, or kNoEntry.
  [[nodiscard]] EntryNumber find(const InsideEndpoint& inside, const Ipv4Endpoint& remote) const;
  [[nodiscard]] EntryNumber find(const Ipv4Endpoint& external, const Ipv4Endpoint& remote) const;

  // Adds a connection; the table must not be full. If two connections have the same external
  // four-tuple, find() returns the newer one.
  EntryNumber add(const Connection& connection, Nanoseconds now_ns);
  void remove(EntryNumber entry);
  void use(EntryNumber entry, Nanoseconds now_ns);
  void change_external(EntryNumber entry, const Ipv4Endpoint& external);

  [[nodiscard]] const Connection& at(EntryNumber entry) const { return entries_[entry].connection; }
  // Returns n if this was the n-th connection that was added; 0 if the entry is empty.
  [[nodiscard]] std::uint64_t ordinal(EntryNumber entry) const { return entries_[entry].ordinal; }
  [[nodiscard]] EntryNumber find_ordinal(std::uint64_t ordinal) const;  // searches all entries
  [[nodiscard]] Nanoseconds used_ns(EntryNumber entry) const { return entries_[entry].used_ns; }
  [[nodiscard]] EntryNumber oldest() const { return order_.oldest(); }

  [[nodiscard]] std::size_t size() const { return entries_.size() - free_.size(); }
  [[nodiscard]] bool is_full() const { return free_.empty(); }
  void count_anew() { added_ = 0; }  // the next connection gets ordinal 1

 private:
  struct Entry {
    Connection connection;
    Nanoseconds used_ns = 0;
    std::uint64_t ordinal = 0;
  };

  std::vector<Entry> entries_;
  std::vector<EntryNumber> free_;
  HashIndex by_inside_;
  HashIndex by_external_;
  UseOrder order_;
  std::uint64_t added_ = 0;
};

// Endpoint-independent mappings (RFC 4787, 4.1; the binding information base of RFC 6146): the
// external endpoint of an inside endpoint, for all remote endpoints, while it has a connection.
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
