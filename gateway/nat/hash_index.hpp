// Finds entries of a table by their hash: chained, with all its memory taken at the start. Whether
// an entry of equal hash is the wanted one, the table says.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace natxy::gateway {

// Of an entry: its number in the table.
using EntryNumber = std::uint32_t;
inline constexpr EntryNumber kNoEntry = UINT32_MAX;

class HashIndex {
 public:
  explicit HashIndex(EntryNumber entries)
      : buckets_(std::bit_ceil(std::size_t{entries}), kNoEntry), next_(entries, kNoEntry) {}

  // The newest entry first.
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

  // The newest entry of which `is_it(entry)` is true, or kNoEntry.
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
