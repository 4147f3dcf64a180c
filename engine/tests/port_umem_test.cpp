// Tests that the pool of an AF_XDP port lies within the umem that net_af_xdp registers: it begins
// with the page of the first buffer and is as long as all buffers together.
#include <gtest/gtest.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "port/port.hpp"

namespace natxy::port {
namespace {

const PoolOptions kOptions{.name = "umem_test", .frames = 4095, .data_room_bytes = 2240};

struct Umem {
  std::uintptr_t begin;
  std::uintptr_t end;
  std::vector<std::uintptr_t> outside;
  std::vector<std::uintptr_t> across_pages;
};

void place(rte_mempool* pool, void* into, void* object, unsigned) {
  auto& umem = *static_cast<Umem*>(into);
  const auto page = static_cast<std::uintptr_t>(getpagesize());
  const auto first = reinterpret_cast<std::uintptr_t>(object) - pool->header_size;
  const auto last = first + rte_mempool_calc_obj_size(pool->elt_size, pool->flags, nullptr) - 1;
  if (first < umem.begin || last >= umem.end) umem.outside.push_back(first);
  if (first / page != last / page) umem.across_pages.push_back(first);
}

Umem places(rte_mempool& pool) {
  const auto page = static_cast<std::uintptr_t>(getpagesize());
  const auto memory = reinterpret_cast<std::uintptr_t>(STAILQ_FIRST(&pool.mem_list)->addr);
  const auto size = rte_mempool_calc_obj_size(pool.elt_size, pool.flags, nullptr);
  Umem umem{.begin = memory / page * page,
            .end = memory + std::uintptr_t{pool.populated_size} * size};
  EXPECT_EQ(rte_mempool_obj_iter(&pool, place, &umem), pool.size);
  return umem;
}

TEST(UmemPool, EveryBufferIsInTheUmemAndInOnePage) {
  const Pool pool(create_umem_pool(kOptions));
  const auto umem = places(*pool);
  EXPECT_EQ(umem.outside, std::vector<std::uintptr_t>{});
  EXPECT_EQ(umem.across_pages, std::vector<std::uintptr_t>{});
}

// Shows that an ordinary pool does not, so that the test above can fail.
TEST(UmemPool, AnOrdinaryPoolHasBuffersBeyondIt) {
  const Pool pool(create_pool(kOptions));
  EXPECT_GT(places(*pool).outside.size(), 0U);
}

TEST(UmemPool, BuffersAreFramesWithRoomForTheLongest) {
  const Pool pool(create_umem_pool(kOptions));
  auto* frame = rte_pktmbuf_alloc(pool.get());
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ(frame->pool, pool.get());
  EXPECT_EQ(frame->data_off, RTE_PKTMBUF_HEADROOM);
  EXPECT_GE(rte_pktmbuf_tailroom(frame), 3498 + 14) << "the largest MTU of AF_XDP";
  rte_pktmbuf_free(frame);
  EXPECT_EQ(rte_mempool_avail_count(pool.get()), kOptions.frames);
}

TEST(UmemPool, MemoryComesBack) {  // 512 MB have room for 30 pools
  for (unsigned i = 0; i < 100; ++i) const Pool pool(create_umem_pool(kOptions));
}

TEST(UmemPool, RefusesWhatDoesNotFit) {
  auto longest = kOptions;
  longest.data_room_bytes = 4000;
  EXPECT_THROW((void)create_umem_pool(longest), spec::TrialError);
  auto most = kOptions;
  most.frames = (1U << 20U) - 1;
  EXPECT_THROW((void)create_umem_pool(most), spec::TrialError);
  const Pool pool(create_umem_pool(kOptions));  // the earlier pools have been freed
}

}  // namespace
}  // namespace natxy::port
