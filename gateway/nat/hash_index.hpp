// A chained hash index of a table's entries. All memory is allocated at the start. The table
// decides whether an entry with an equal hash is the wanted one.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace natxy::gateway {

// The number of an entry in the table.
using EntryNumber = std::uint32_t;
inline constexpr EntryNumber kNoEntry = UINT32_MAX;

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

}  // namespace natxy::gateway
