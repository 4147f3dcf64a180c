// The receive queue of a port: what a receiver's hot loop sees. Touched by one worker at a time.
#pragma once

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>
#include <rte_ring.h>

#include <cstdint>

namespace natxy::port {

class RxQueue {
 public:
  using Frame = rte_mbuf*;

  // deferred: one producer (this), one consumer (the neighbour task).
  RxQueue(std::uint16_t port, rte_ring* deferred) : port_(port), deferred_(deferred) {}

  unsigned receive(Frame* frames, unsigned n) {
    return rte_eth_rx_burst(port_, 0, frames, static_cast<std::uint16_t>(n));
  }
  static const std::uint8_t* data(Frame frame) {
    return rte_pktmbuf_mtod(frame, const std::uint8_t*);
  }
  // Of the first segment: a frame in several is shorter here than its headers say, and malformed.
  static std::uint32_t length(Frame frame) { return rte_pktmbuf_data_len(frame); }
  // The buffer's own fields: what data(), length() and release() read.
  static void prefetch_handle(Frame frame) { rte_prefetch0(frame); }
  // The frame, where pools without private data put it: to read its address first would be to wait
  // for the handle. The stamp of a small frame stands in the second line.
  static void prefetch(Frame frame) {
    const auto* octets = reinterpret_cast<const std::uint8_t*>(frame + 1) + RTE_PKTMBUF_HEADROOM;
    rte_prefetch0(octets);
    rte_prefetch0(octets + RTE_CACHE_LINE_SIZE);
  }
  void release(Frame* frames, unsigned n) { rte_pktmbuf_free_bulk(frames, n); }

  // To the neighbour task, which owns it then; dropped where that is behind.
  void defer(Frame frame) {
    if (rte_ring_sp_enqueue(deferred_, frame) != 0) rte_pktmbuf_free(frame);
  }

 private:
  std::uint16_t port_;
  rte_ring* deferred_;
};

}  // namespace natxy::port
