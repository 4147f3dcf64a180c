// Buffers of an AF_XDP port: all in one piece of memory, one behind the other without a gap.
//
// net_af_xdp tells the kernel of as many octets as the pool has buffers times their size, counted
// from the first. An ordinary pool leaves gaps before page ends and so is longer than that: the
// kernel drops, and never gives back, each buffer that lies behind the end it was told.
#pragma once

#include <cstddef>
#include <string>

struct rte_mempool;  // NOLINT(readability-identifier-naming): DPDK's

namespace natxy::gateway {

struct UmemOrder {
  std::string name;
  unsigned frames = 0;
  unsigned cache_frames = 0;
  int numa_node = 0;
};

// The kernel takes no longer buffers than a page, DPDK's own part of them included.
inline constexpr std::size_t kUmemBufferOctets = 4096;

// Null, with rte_errno set, where there is no such memory.
[[nodiscard]] rte_mempool* create_umem_pool(const UmemOrder& order);

}  // namespace natxy::gateway
