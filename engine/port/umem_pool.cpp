#include "port/umem_pool.hpp"

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>
#include <rte_memzone.h>

#include <memory>
#include <string>

#include "spec/event.hpp"

namespace natxy::port {
namespace {

// Prevents gaps between buffers, which DPDK would leave for page boundaries (not needed, because
// the kernel maps the memory) or to spread the buffers over memory channels.
constexpr unsigned kFlags = RTE_MEMPOOL_F_NO_IOVA_CONTIG | RTE_MEMPOOL_F_NO_SPREAD;

struct Free {
  void operator()(rte_mempool* pool) const { rte_mempool_free(pool); }
};
using Unready = std::unique_ptr<rte_mempool, Free>;

[[noreturn]] void refuse(const PoolOptions& options, int error) {
  throw spec::TrialError(spec::ErrorKind::kDevice,
                         "no memory in one piece for " + std::to_string(options.frames) +
                             " frames of " + std::to_string(kUmemFrameBytes) + " octets: " +
                             rte_strerror(error) + " (expected a larger --memory-mb)");
}

// Returns the octets of a buffer that remain for the mbuf and the frame.
unsigned element_bytes() {
  rte_mempool_objsz sizes{};
  rte_mempool_calc_obj_size(RTE_CACHE_LINE_SIZE, kFlags, &sizes);
  return kUmemFrameBytes - sizes.header_size - sizes.trailer_size;
}

Unready create_empty(const std::string& name, const PoolOptions& options) {
  Unready pool(rte_mempool_create_empty(name.c_str(), options.frames, element_bytes(),
                                        kPoolCacheFrames, sizeof(rte_pktmbuf_pool_private),
                                        options.numa_node, kFlags));
  if (!pool) refuse(options, rte_errno);
  rte_mempool_set_ops_byname(pool.get(), rte_mbuf_best_mempool_ops(), nullptr);
  rte_pktmbuf_pool_init(pool.get(), nullptr);
  return pool;
}

void free_zone(rte_mempool_memhdr*, void* zone) {
  rte_memzone_free(static_cast<const rte_memzone*>(zone));
}

void populate(rte_mempool& pool, const std::string& name, const PoolOptions& options) {
  const auto bytes = std::size_t{options.frames} * kUmemFrameBytes;
  const auto* zone =
      rte_memzone_reserve_aligned(name.c_str(), bytes, options.numa_node, 0, kUmemFrameBytes);
  if (zone == nullptr) refuse(options, rte_errno);
  const int placed = rte_mempool_populate_iova(&pool, static_cast<char*>(zone->addr), RTE_BAD_IOVA,
                                               bytes, free_zone, const_cast<rte_memzone*>(zone));
  if (placed <= 0) rte_memzone_free(zone);
  if (placed != static_cast<int>(options.frames)) refuse(options, placed < 0 ? -placed : ENOMEM);
}

}  // namespace

rte_mempool* create_umem_pool(const PoolOptions& options) {
  const auto name = numbered_pool_name(options.name);
  auto pool = create_empty(name, options);
  if (rte_pktmbuf_data_room_size(pool.get()) < options.data_room_bytes) {
    throw spec::TrialError(spec::ErrorKind::kDevice,
                           "AF_XDP has buffers of " + std::to_string(kUmemFrameBytes) +
                               " octets, too few for the MTU (expected a smaller --mtu)");
  }
  populate(*pool, name, options);
  rte_mempool_obj_iter(pool.get(), rte_pktmbuf_init, nullptr);
  return pool.release();
}

}  // namespace natxy::port
