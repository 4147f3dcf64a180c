// A pool whose buffers all hold the same frame, so that a sender only patches what differs. Buffers
// keep data and lengths when they come back: nothing on the way resets or writes them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

struct rte_mempool;  // NOLINT(readability-identifier-naming): DPDK's

namespace natxy::port {

inline constexpr unsigned kPoolCacheFrames = 256;  // with none, cores that share one nearly stop

struct PoolOptions {
  std::string name;  // at most 12 characters; a number is added
  unsigned frames = 4095;
  std::uint16_t data_room_bytes = 2176;
  int numa_node = -1;
};

// Of two pools with one name each gets its own.
[[nodiscard]] std::string numbered_pool_name(const std::string& name);

// Throws TrialError (device).
[[nodiscard]] rte_mempool* create_pool(const PoolOptions& options);

class TemplatePool {
 public:
  explicit TemplatePool(PoolOptions options) : options_(std::move(options)) {}
  ~TemplatePool();
  TemplatePool(TemplatePool&& other) noexcept;
  TemplatePool(const TemplatePool&) = delete;
  TemplatePool& operator=(const TemplatePool&) = delete;
  TemplatePool& operator=(TemplatePool&&) = delete;

  // Nothing is done where the buffers hold these octets already. Creates the pool the first time.
  void fill(std::span<const std::uint8_t> octets, std::size_t patched_at = 0);
  // Null until the first fill.
  [[nodiscard]] rte_mempool* pool() const { return pool_; }

 private:
  PoolOptions options_;
  rte_mempool* pool_ = nullptr;
  std::vector<std::uint8_t> octets_;
};

}  // namespace natxy::port
