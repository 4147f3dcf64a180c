// The pool of an AF_XDP port (see plumbing/umem_pool.hpp).
#pragma once

#include "port/template_pool.hpp"

namespace natxy::port {

// Creates the pool. Throws TrialError (device), also if the buffers are smaller than the data room
// of the options.
[[nodiscard]] rte_mempool* create_umem_pool(const PoolOptions& options);

}  // namespace natxy::port
