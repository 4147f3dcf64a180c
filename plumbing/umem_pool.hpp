// The buffers of an AF_XDP port, in one piece of memory that user space and kernel share (a umem).
//
// net_af_xdp of DPDK 22.11 registers (number of buffers) x (buffer size) octets, from the first
// buffer on. A pool of rte_pktmbuf_pool_create() is longer: it leaves gaps so that no buffer
// crosses a page boundary, and with pages of 4 KiB, two fifths of the buffers are then beyond the
// registered end. The kernel takes such a buffer from the fill ring or the transmit ring and drops
// it: frames that never leave count as sent, and in the end no frame arrives.
#pragma once

#include <cstddef>
#include <string>

struct rte_mempool;  // NOLINT(readability-identifier-naming): DPDK's

namespace natxy::plumbing {

struct UmemOrder {
  std::string name;
  unsigned frames = 0;
  unsigned cache_frames = 0;
  int numa_node = 0;
};

// The size of a buffer, including all that precedes its frame. Not larger, because the kernel
// accepts at most its page size; not smaller, so that no buffer crosses a page boundary, which a
// NIC with zero copy could not use.
inline constexpr std::size_t kUmemBufferOctets = 4096;

// Creates the pool. Returns null and sets rte_errno if there is not enough memory.
[[nodiscard]] rte_mempool* create_umem_pool(const UmemOrder& order);

}  // namespace natxy::plumbing
