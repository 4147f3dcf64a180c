// The buffers of an AF_XDP port: one piece of memory that user space and kernel share (a umem), in
// which every buffer has its place.
//
// net_af_xdp of DPDK 22.11 registers as many octets as the pool has buffers times their size, from
// the first one on. A pool of rte_pktmbuf_pool_create's is longer: it leaves gaps so that no buffer
// lies across two pages, and with pages of 4 KiB two fifths of the buffers are then beyond that
// end. The kernel takes such a buffer from the fill ring or from the transmit ring and forgets it:
// frames count as sent that never leave, and at the end none arrives any more.
#pragma once

#include <cstdint>

#include "port/template_pool.hpp"

struct rte_mempool;  // NOLINT(readability-identifier-naming): DPDK's

namespace natxy::port {

// A buffer with all that is before its frame. No longer, because the kernel takes none beyond its
// page size; no shorter, so that none lies across two pages, which a NIC that works on the umem
// (zero copy) could not use.
inline constexpr unsigned kUmemFrameBytes = 4096;

// Of the options, the data room is only checked. Throws TrialError (device).
[[nodiscard]] rte_mempool* create_umem_pool(const PoolOptions& options);

}  // namespace natxy::port
