// A table with a maximum number of connections, which are found by either four-tuple in constant
// time and are in the order of their last use. All memory is allocated at the start.
#pragma once

#include <cstdint>
#include <vector>

#include "gateway/nat/connection.hpp"
#include "gateway/nat/hash_index.hpp"
#include "gateway/nat/use_order.hpp"
#include "gateway/octets.hpp"

namespace natxy::gateway {

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

}  // namespace natxy::gateway
