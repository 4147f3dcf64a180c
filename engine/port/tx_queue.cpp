#include "port/tx_queue.hpp"

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "plumbing/dpdk.hpp"
#include "spec/event.hpp"

namespace natxy::port {
namespace {

struct Template {
  std::span<const std::uint8_t> octets;
  std::uint16_t data_offset;
};

// Returns the offset of a frame in its buffer, chosen so that the 26 octets from patched_at, which
// each patch writes, are in one cache line. This saves 5 cycles per IPv6 frame
// (docs/benchmarks.md).
std::uint16_t data_offset(std::size_t patched_at) {
  constexpr std::size_t kPatchedOctets = 26;
  const auto in_line = (RTE_PKTMBUF_HEADROOM + patched_at) % RTE_CACHE_LINE_SIZE;
  const auto crosses = in_line + kPatchedOctets > RTE_CACHE_LINE_SIZE;
  return static_cast<std::uint16_t>(RTE_PKTMBUF_HEADROOM +
                                    (crosses ? RTE_CACHE_LINE_SIZE - in_line : 0));
}

void write_template(rte_mempool*, void* whole, void* object, unsigned) {
  const auto& [bytes, offset] = *static_cast<const Template*>(whole);
  auto* frame = static_cast<rte_mbuf*>(object);
  frame->data_off = offset;
  frame->nb_segs = 1;
  frame->next = nullptr;
  frame->ol_flags = 0;
  frame->data_len = static_cast<std::uint16_t>(bytes.size());
  frame->pkt_len = static_cast<std::uint32_t>(bytes.size());
  std::memcpy(rte_pktmbuf_mtod(frame, void*), bytes.data(), bytes.size());
}

// Returns the name with a unique number, because DPDK's names must differ.
std::string numbered_pool_name(const std::string& name) {
  static std::atomic<unsigned> number{0};
  return name + "-" + std::to_string(number++);
}

}  // namespace

rte_mempool* create_pool(const PoolOptions& options) {
  const auto name = numbered_pool_name(options.name);
  auto* pool = rte_pktmbuf_pool_create(name.c_str(), options.frames, kPoolCacheFrames, 0,
                                       options.data_room_bytes, options.numa_node);
  if (pool != nullptr) return pool;
  throw spec::TrialError(spec::ErrorKind::kDevice,
                         "no memory for " + std::to_string(options.frames) + " frames of " +
                             std::to_string(options.data_room_bytes) + " octets: " +
                             rte_strerror(rte_errno) + " (expected a larger --memory-mb)");
}

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

TemplatePool::~TemplatePool() {
  rte_mempool_free(pool_);
}

TemplatePool::TemplatePool(TemplatePool&& other) noexcept
    : options_(std::move(other.options_)),
      pool_(std::exchange(other.pool_, nullptr)),
      octets_(std::move(other.octets_)),
      headers_varied_(other.headers_varied_) {}

void TemplatePool::fill(std::span<const std::uint8_t> octets, std::size_t patched_at,
                        bool headers_vary) {
  const bool filled = !headers_varied_ && std::ranges::equal(octets, octets_);
  headers_varied_ = headers_vary;
  if (filled) return;
  const std::size_t room = options_.data_room_bytes - data_offset(patched_at);
  if (octets.size() > room) {
    throw spec::TrialError(spec::ErrorKind::kSpec,
                           "a frame of " + std::to_string(octets.size()) +
                               " octets does not fit into the port's " + std::to_string(room) +
                               " (expected a larger --mtu or a smaller frame)");
  }
  if (pool_ == nullptr) pool_ = create_pool(options_);
  Template whole{.octets = octets, .data_offset = data_offset(patched_at)};
  rte_mempool_obj_iter(pool_, write_template, &whole);
  octets_.assign(octets.begin(), octets.end());
}

}  // namespace natxy::port
