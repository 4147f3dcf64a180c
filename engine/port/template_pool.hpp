// A pool whose buffers all hold the same frame, so that a sender patches only what differs. Buffers
// keep their data and lengths when they are freed, because nothing resets or overwrites them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

struct rte_mempool;  // NOLINT(readability-identifier-naming): DPDK's

namespace natxy::port {

inline constexpr unsigned kPoolCacheFrames = 256;  // without caches, cores that share a pool stall

struct PoolOptions {
  std::string name;  // at most 12 characters; a number is added
  unsigned frames = 4095;
  std::uint16_t data_room_bytes = 2176;
  int numa_node = -1;
};

// Creates a pool of mbufs. Throws TrialError (device).
[[nodiscard]] rte_mempool* create_pool(const PoolOptions& options);
// Creates that of an AF_XDP port (see plumbing/umem_pool.hpp). Throws TrialError (device), also if
// its buffers are smaller than the data room of the options.
[[nodiscard]] rte_mempool* create_umem_pool(const PoolOptions& options);

class TemplatePool {
 public:
  explicit TemplatePool(PoolOptions options) : options_(std::move(options)) {}
  ~TemplatePool();
  TemplatePool(TemplatePool&& other) noexcept;
  TemplatePool(const TemplatePool&) = delete;
  TemplatePool& operator=(const TemplatePool&) = delete;
  TemplatePool& operator=(TemplatePool&&) = delete;

  // Writes the octets to all buffers, unless they hold them already. The first call creates the
  // pool. headers_vary: frames are patched before patched_at as well, for example in their
  // addresses. The buffers then hold what was patched, which the next frames may not overwrite.
  void fill(std::span<const std::uint8_t> octets, std::size_t patched_at = 0,
            bool headers_vary = false);
  // Returns the pool; null before the first fill().
  [[nodiscard]] rte_mempool* pool() const { return pool_; }

 private:
  PoolOptions options_;
  rte_mempool* pool_ = nullptr;
  std::vector<std::uint8_t> octets_;
  bool headers_varied_ = false;  // since the last fill()
};

}  // namespace natxy::port
