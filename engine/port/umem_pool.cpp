#include "port/umem_pool.hpp"

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <string>

#include "plumbing/umem_pool.hpp"
#include "spec/event.hpp"

namespace natxy::port {

rte_mempool* create_umem_pool(const PoolOptions& options) {
  const auto octets = std::to_string(plumbing::kUmemBufferOctets) + " octets";
  auto* pool = plumbing::create_umem_pool({.name = numbered_pool_name(options.name),
                                           .frames = options.frames,
                                           .cache_frames = kPoolCacheFrames,
                                           .numa_node = options.numa_node});
  if (pool == nullptr) {
    throw spec::TrialError(spec::ErrorKind::kDevice,
                           "no memory in one piece for " + std::to_string(options.frames) +
                               " frames of " + octets + ": " + rte_strerror(rte_errno) +
                               " (expected a larger --memory-mb)");
  }
  if (rte_pktmbuf_data_room_size(pool) >= options.data_room_bytes) return pool;
  rte_mempool_free(pool);
  throw spec::TrialError(
      spec::ErrorKind::kDevice,
      "AF_XDP has buffers of " + octets + ", too few for the MTU (expected a smaller --mtu)");
}

}  // namespace natxy::port
