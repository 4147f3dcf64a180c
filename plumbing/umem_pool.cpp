#include "plumbing/umem_pool.hpp"

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>
#include <rte_memzone.h>

namespace natxy::plumbing {
namespace {

// Prevents gaps between buffers, which DPDK would leave for page boundaries (not needed, because
// the kernel maps the memory) or to spread the buffers over memory channels.
constexpr unsigned kWithoutGaps = RTE_MEMPOOL_F_NO_IOVA_CONTIG | RTE_MEMPOOL_F_NO_SPREAD;

unsigned object_octets() {
  rte_mempool_objsz around{};
  rte_mempool_calc_obj_size(RTE_CACHE_LINE_SIZE, kWithoutGaps, &around);
  return static_cast<unsigned>(kUmemBufferOctets) - around.header_size - around.trailer_size;
}

rte_mempool* create_empty(const UmemOrder& order) {
  auto* pool = rte_mempool_create_empty(order.name.c_str(), order.frames, object_octets(),
                                        order.cache_frames, sizeof(rte_pktmbuf_pool_private),
                                        order.numa_node, kWithoutGaps);
  if (pool == nullptr) return nullptr;
  rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), nullptr);
  rte_pktmbuf_pool_init(pool, nullptr);  // derives the data room from the object size
  return pool;
}

void give_back(rte_mempool_memhdr* /*piece*/, void* zone) {
  rte_memzone_free(static_cast<const rte_memzone*>(zone));
}

// Allocates memory for all buffers. Returns false and sets rte_errno if this fails.
bool place(rte_mempool& pool, const UmemOrder& order) {
  const auto octets = order.frames * kUmemBufferOctets;
  const auto* zone = rte_memzone_reserve_aligned(order.name.c_str(), octets, order.numa_node, 0,
                                                 kUmemBufferOctets);
  if (zone == nullptr) return false;
  const int placed = rte_mempool_populate_iova(&pool, static_cast<char*>(zone->addr), RTE_BAD_IOVA,
                                               octets, give_back, const_cast<rte_memzone*>(zone));
  if (placed == static_cast<int>(order.frames)) return true;
  if (placed <= 0) rte_memzone_free(zone);
  rte_errno = placed < 0 ? -placed : ENOMEM;
  return false;
}

}  // namespace

rte_mempool* create_umem_pool(const UmemOrder& order) {
  auto* pool = create_empty(order);
  if (pool == nullptr) return nullptr;
  if (!place(*pool, order)) {
    const auto reason = rte_errno;
    rte_mempool_free(pool);
    rte_errno = reason;
    return nullptr;
  }
  rte_mempool_obj_iter(pool, rte_pktmbuf_init, nullptr);
  return pool;
}

}  // namespace natxy::plumbing
