// Memory for the state table: huge pages where there are enough, else plain ones. It stays from
// trial to trial, with what they left in it: an entry says of which trial it is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "run/state_table.hpp"

namespace natxy::run {

class TableMemory {
 public:
  TableMemory() = default;
  ~TableMemory() { release(); }
  TableMemory(const TableMemory&) = delete;
  TableMemory& operator=(const TableMemory&) = delete;

  // The table of the next trial, empty as soon as touch() has nothing left to do. Throws
  // spec::TrialError (spec) where the memory is not there.
  [[nodiscard]] StateTable reserve(std::uint64_t entries);
  // Clears a piece of what the table needs and no table had yet: pages come into being near the
  // core that does it.
  void touch();
  [[nodiscard]] bool touched() const { return touched_ >= entries_; }

  [[nodiscard]] std::uint64_t page_bytes() const { return page_bytes_; }

 private:
  void allocate(std::uint64_t entries, std::size_t bytes);
  [[nodiscard]] bool map(std::size_t bytes, std::size_t page_bytes);
  void release();

  void* begin_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint64_t page_bytes_ = 0;
  std::uint64_t entries_ = 0;  // of the table reserved last
  std::uint64_t touched_ = 0;  // so many from the first on are 0 or of an earlier trial
  std::uint64_t trial_ = 0;
};

}  // namespace natxy::run
