// The memory of the state table: huge pages if enough are free, else ordinary ones. It is kept from
// trial to trial with its contents, because each entry names its trial.
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

  // Returns the table of the next trial, which is empty after touch() has been called until
  // touched(). Throws spec::TrialError (spec) if there is not enough memory.
  [[nodiscard]] StateTable reserve(std::uint64_t entries);
  // Clears the next piece of memory that no table has used yet. The kernel allocates its pages near
  // the calling core.
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
  std::uint64_t entries_ = 0;  // of the table that was reserved last
  std::uint64_t touched_ = 0;  // this many entries from the first on are 0 or from earlier trials
  std::uint64_t trial_ = 0;
};

}  // namespace natxy::run
