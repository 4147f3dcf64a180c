// One transmit queue of a port and the pools of its frames, as the sender's hot loop uses them. One
// worker at a time may use it.
#pragma once

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

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
// Creates that of an AF_XDP port (see plumbing/dpdk.hpp). Throws TrialError (device), also if
// its buffers are smaller than the data room of the options.
[[nodiscard]] rte_mempool* create_umem_pool(const PoolOptions& options);

// A pool whose buffers all hold the same frame, so that a sender patches only what differs. Buffers
// keep their data and lengths when they are freed, because nothing resets or overwrites them.
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

struct TxQueueOptions {
  std::uint16_t port = 0;
  std::uint16_t queue = 0;
  bool refusal_is_gateways = false;
  PoolOptions pool;  // for each kind of traffic; the kind's digit is added to the name
};

class TxQueue {
 public:
  using Frame = rte_mbuf*;

  explicit TxQueue(const TxQueueOptions& options)
      : port_(options.port),
        queue_(options.queue),
        refusal_is_gateways_(options.refusal_is_gateways),
        templates_{TemplatePool(named(options.pool, "0")), TemplatePool(named(options.pool, "1"))} {
  }

  // Allocates n buffers, or none. kind: 0 foreground, 1 background. The buffers hold the template
  // of fill(), possibly patched. They need no reset, because lengths and reference counts are
  // correct.
  bool allocate(unsigned kind, Frame* frames, unsigned n) {
    if (n != 1) return n == 0 || take(kind, frames, n);
    auto& [left, spare] = spares_[kind];
    if (left == 0) {
      if (!take(kind, spare.data(), kSpare)) [[unlikely]]
        return take(kind, frames, 1);
      left = kSpare;
    }
    *frames = spare[--left];
    return true;
  }
  static std::uint8_t* data(Frame frame) { return rte_pktmbuf_mtod(frame, std::uint8_t*); }

  // Sends frames. Returns how many the port accepted; the caller keeps the others.
  unsigned send(Frame* frames, unsigned n) {
    return rte_eth_tx_burst(port_, queue_, frames, static_cast<std::uint16_t>(n));
  }
  void release(Frame* frames, unsigned n) { rte_pktmbuf_free_bulk(frames, n); }
  [[nodiscard]] bool refusal_is_gateways() const { return refusal_is_gateways_; }

  // Fills all buffers with a template. Called between trials. See TemplatePool::fill().
  void fill(unsigned kind, std::span<const std::uint8_t> octets, std::size_t patched_at = 0,
            bool headers_vary = false) {
    give_back_spares(kind);
    templates_[kind].fill(octets, patched_at, headers_vary);
    pools_[kind] = templates_[kind].pool();
  }

 private:
  // Buffers that were taken from a pool together, to be used one at a time. To take one costs
  // nearly as much as to take several. They are few, so that all of them stay in the nearest cache.
  static constexpr unsigned kSpare = 8;
  struct Spares {
    unsigned left = 0;
    std::array<Frame, kSpare> frames;
  };

  void give_back_spares(unsigned kind) {
    auto& [left, spare] = spares_[kind];
    if (left > 0) {
      rte_mempool_put_bulk(pools_[kind], reinterpret_cast<void**>(spare.data()), left);
    }
    left = 0;
  }
  bool take(unsigned kind, Frame* frames, unsigned n) {
    return rte_mempool_get_bulk(pools_[kind], reinterpret_cast<void**>(frames), n) == 0;
  }
  static PoolOptions named(PoolOptions options, const char* suffix) {
    options.name += suffix;
    return options;
  }

  std::uint16_t port_;
  std::uint16_t queue_;
  bool refusal_is_gateways_;
  std::array<rte_mempool*, 2> pools_{};
  std::array<Spares, 2> spares_;
  std::array<TemplatePool, 2> templates_;
};

}  // namespace natxy::port
