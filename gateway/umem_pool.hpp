// The buffers of an AF_XDP port, in one piece of memory without gaps.
//
// net_af_xdp registers (number of buffers) x (buffer size) octets with the kernel, from the first
// buffer on. An ordinary pool has gaps at page boundaries, so it is longer, and the kernel drops
// the buffers beyond the registered end and never returns them.
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

// The size of a buffer, including DPDK's part of it. The kernel accepts at most a page.
inline constexpr std::size_t kUmemBufferOctets = 4096;

// Creates the pool. Returns null and sets rte_errno if there is not enough memory.
[[nodiscard]] rte_mempool* create_umem_pool(const UmemOrder& order);

}  // namespace natxy::gateway
