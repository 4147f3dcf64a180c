// The program starts the EAL in ring_gateway_test.cpp.
#include "gateway/umem_pool.hpp"

#include <gtest/gtest.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <cstdint>
#include <vector>

namespace natxy::gateway::test {
namespace {

constexpr unsigned kFrames = 511;

std::vector<std::uintptr_t> places(rte_mempool& pool) {
  std::vector<std::uintptr_t> all;
  rte_mempool_obj_iter(
      &pool,
      [](rte_mempool*, void* list, void* object, unsigned) {
        static_cast<decltype(all)*>(list)->push_back(reinterpret_cast<std::uintptr_t>(object));
      },
      &all);
  return all;
}

// The kernel knows (number of buffers) x 4096 octets from the first buffer on.
TEST(UmemPool, EveryBufferHasThePlaceThatTheKernelKnows) {
  auto* pool = create_umem_pool({.name = "gw-umem-test", .frames = kFrames, .cache_frames = 0});
  ASSERT_NE(pool, nullptr);
  const auto all = places(*pool);
  ASSERT_EQ(all.size(), kFrames);
  for (unsigned i = 0; i < kFrames; ++i) EXPECT_EQ(all[i], all[0] + i * kUmemBufferOctets);
  EXPECT_GE(rte_pktmbuf_data_room_size(pool), 3498 + 14 + RTE_PKTMBUF_HEADROOM);
  rte_mempool_free(pool);
}

TEST(UmemPool, WithoutSuchMemoryThereIsNone) {
  EXPECT_EQ(create_umem_pool({.name = "gw-umem-large", .frames = 1U << 20U}), nullptr);
}

}  // namespace
}  // namespace natxy::gateway::test
