#include "run/state_table.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

#include "spec/event.hpp"

namespace natxy::run {
namespace {

constexpr std::size_t kGigabytePage = std::size_t{1} << 30U;
constexpr std::size_t kMegabytePage = std::size_t{2} << 20U;
constexpr std::uint64_t kPiece = kMegabytePage / sizeof(std::uint64_t);  // under 1 ms

// Returns the available memory; 0 if it is unknown.
std::uint64_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::uint64_t kib = 0;
  for (std::string rest; file >> name >> kib; std::getline(file, rest)) {
    if (name == "MemAvailable:") return kib * 1024;
  }
  return 0;
}

int page_flags(std::size_t page_bytes) {
  if (page_bytes == kGigabytePage) return MAP_HUGETLB | (30 << MAP_HUGE_SHIFT);
  if (page_bytes == kMegabytePage) return MAP_HUGETLB | (21 << MAP_HUGE_SHIFT);
  return MAP_NORESERVE;
}

}  // namespace

StateTable TableMemory::reserve(std::uint64_t entries) {
  const auto bytes = static_cast<std::size_t>(entries) * sizeof(std::uint64_t);
  if (bytes > bytes_) allocate(entries, bytes);
  entries_ = entries;
  if (trial_++ == Entry::kTrials) {  // the numbers of trials start again: clear the old entries
    trial_ = 1;
    touched_ = 0;
  }
  return {static_cast<std::uint64_t*>(begin_), entries, trial_};
}

void TableMemory::touch() {
  const auto entries = std::min(kPiece, entries_ - touched_);
  std::memset(static_cast<std::uint64_t*>(begin_) + touched_, 0, entries * sizeof(std::uint64_t));
  touched_ += entries;
}

void TableMemory::allocate(std::uint64_t entries, std::size_t bytes) {
  release();
  if (bytes >= kGigabytePage / 2 && map(bytes, kGigabytePage)) return;
  if (bytes >= kMegabytePage / 2 && map(bytes, kMegabytePage)) return;
  const auto available = available_bytes();
  const auto plain = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if ((available == 0 || bytes < available) && map(bytes, plain)) {
    madvise(begin_, bytes_, MADV_HUGEPAGE);
    return;
  }
  throw spec::TrialError(spec::ErrorKind::kSpec, "phases[0]: a table of " +
                                                     std::to_string(entries) +
                                                     " connections takes " + std::to_string(bytes) +
                                                     " bytes, but " + std::to_string(available) +
                                                     " are available (expected fewer connections)");
}

bool TableMemory::map(std::size_t bytes, std::size_t page_bytes) {
  const auto whole = (bytes + page_bytes - 1) / page_bytes * page_bytes;
  auto* begin = mmap(nullptr, whole, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | page_flags(page_bytes), -1, 0);
  if (begin == MAP_FAILED) return false;
  begin_ = begin;
  bytes_ = whole;
  page_bytes_ = page_bytes;
  return true;
}

void TableMemory::release() {
  if (begin_ != nullptr) munmap(begin_, bytes_);
  begin_ = nullptr;
  bytes_ = 0;
  touched_ = 0;
}

}  // namespace natxy::run
