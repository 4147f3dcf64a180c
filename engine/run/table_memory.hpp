// Memory for the state table: huge pages where there are enough, else plain ones. It stays from
// trial to trial.
#pragma once

#include <cstddef>
#include <cstdint>

namespace natxy::run {

class TableMemory {
 public:
  TableMemory() = default;
  ~TableMemory() { release(); }
  TableMemory(const TableMemory&) = delete;
  TableMemory& operator=(const TableMemory&) = delete;

  // At least so many words; throws spec::TrialError (spec) where the memory is not there. Pages
  // come into being when they are touched, near the core that does it.
  std::uint64_t* reserve(std::uint64_t words);

  [[nodiscard]] std::uint64_t page_bytes() const { return page_bytes_; }

 private:
  [[nodiscard]] bool map(std::size_t bytes, std::size_t page_bytes);
  void release();

  void* begin_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint64_t page_bytes_ = 0;
};

}  // namespace natxy::run
