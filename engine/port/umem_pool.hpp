// The buffers of an AF_XDP port, in one piece of memory that user space and kernel share (a umem).
//
// net_af_xdp of DPDK 22.11 registers (number of buffers) x (buffer size) octets, from the first
// buffer on. A pool of rte_pktmbuf_pool_create() is longer: it leaves gaps so that no buffer
// crosses a page boundary, and with pages of 4 KiB, two fifths of the buffers are then beyond the
// registered end. The kernel takes such a buffer from the fill ring or the transmit ring and drops
// it: frames that never leave count as sent, and in the end no frame arrives.
#pragma once

#include <cstdint>

#include "port/template_pool.hpp"

struct rte_mempool;  // NOLINT(readability-identifier-naming): DPDK's

namespace natxy::port {

// The size of a buffer, including all that precedes its frame. Not larger, because the kernel
// accepts at most its page size; not smaller, so that no buffer crosses a page boundary, which a
// NIC with zero copy could not use.
inline constexpr unsigned kUmemFrameBytes = 4096;

// Creates the pool. Throws TrialError (device), also if the buffers are smaller than the data room
// of the options.
[[nodiscard]] rte_mempool* create_umem_pool(const PoolOptions& options);

}  // namespace natxy::port
