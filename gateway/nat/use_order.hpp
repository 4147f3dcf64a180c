// The entries of a table in the order of their last use: a doubly linked list of entry numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "gateway/nat/hash_index.hpp"

namespace natxy::gateway {

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

}  // namespace natxy::gateway
