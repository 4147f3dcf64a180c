// A receive queue of a port, as the receiver's hot loop uses it. One worker at a time may use it.
#pragma once

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_prefetch.h>
#include <rte_ring.h>

#include <cstdint>

#include "port/port_clock.hpp"

namespace natxy::port {

// The position of a frame's time stamp in its mbuf, and the flag that marks frames that have one.
struct StampField {
  int offset = -1;
  std::uint64_t flag = 0;
};

// The plausible range of a time stamp, in ticks: how far it may be after the poll that found the
// frame (an error of the clock), and how far before it.
struct StampLimits {
  std::int64_t ahead = 0;
  std::int64_t waits = 0;
};

class RxQueue {
 public:
  using Frame = rte_mbuf*;

  // deferred: a ring whose producers are the port's receive queues, and whose consumer is the
  // neighbour task.
  RxQueue(std::uint16_t port, std::uint16_t queue, rte_ring* deferred)
      : port_(port), queue_(queue), deferred_(deferred) {}

  unsigned receive(Frame* frames, unsigned n) {
    return rte_eth_rx_burst(port_, queue_, frames, static_cast<std::uint16_t>(n));
  }
  static const std::uint8_t* data(Frame frame) {
    return rte_pktmbuf_mtod(frame, const std::uint8_t*);
  }
  // Returns the length of the first segment. A frame in several segments is shorter here than its
  // headers say, so it counts as malformed.
  static std::uint32_t length(Frame frame) { return rte_pktmbuf_data_len(frame); }
  // Prefetches the frame's octets, which follow the mbuf in a pool without private data. Reading
  // their address from the mbuf would wait for the mbuf's own cache line. The stamp of a small
  // frame is in the second line.
  static void prefetch(Frame frame) {
    const auto* octets = reinterpret_cast<const std::uint8_t*>(frame + 1) + RTE_PKTMBUF_HEADROOM;
    rte_prefetch0(octets);
    rte_prefetch0(octets + RTE_CACHE_LINE_SIZE);
  }
  void release(Frame* frames, unsigned n) { rte_pktmbuf_free_bulk(frames, n); }

  // Passes a frame to the neighbour task, which then owns it. Drops it if the ring is full.
  void defer(Frame frame) {
    if (rte_ring_enqueue(deferred_, frame) != 0) rte_pktmbuf_free(frame);
  }

  // Uses the port's own time stamps from now on.
  void time_by(PortClock* clock, const StampField& field, const StampLimits& limits) {
    clock_ = clock;
    stamp_ = field;
    limits_ = limits;
  }
  [[nodiscard]] bool stamps() const { return clock_ != nullptr; }
  void tend(run::Ticks now) {
    if (clock_ != nullptr) clock_->tend(now);
  }
  // Returns how long before `polled` the port time-stamped the frame; 0 without a plausible stamp.
  // Only if stamps().
  [[nodiscard]] run::Ticks waited(Frame frame, run::Ticks polled) {
    ++asked_;
    if ((frame->ol_flags & stamp_.flag) == 0) [[unlikely]] {
      ++unstamped_;
      return 0;
    }
    const auto shown = *RTE_MBUF_DYNFIELD(frame, stamp_.offset, rte_mbuf_timestamp_t*);
    const auto waited = static_cast<std::int64_t>(polled - clock_->ticks_at(shown));
    if (waited < -limits_.ahead || waited > limits_.waits) [[unlikely]] {
      ++implausible_;
      return 0;
    }
    return waited < 0 ? 0 : static_cast<run::Ticks>(waited);
  }
  // Return the frames without a stamp, and those with an implausible one, since the queue was made.
  [[nodiscard]] std::uint64_t unstamped() const { return unstamped_; }
  [[nodiscard]] std::uint64_t implausible() const { return implausible_; }
  // Returns whether the stamps are of no use: a driver may announce stamps and make none, or read
  // another clock than that of its stamps.
  [[nodiscard]] bool stamps_fail() const { return 2 * (unstamped_ + implausible_) > asked_; }

 private:
  std::uint16_t port_;
  std::uint16_t queue_;
  rte_ring* deferred_;
  PortClock* clock_ = nullptr;
  StampField stamp_;
  StampLimits limits_;
  std::uint64_t asked_ = 0;  // frames
  std::uint64_t unstamped_ = 0;
  std::uint64_t implausible_ = 0;
};

}  // namespace natxy::port
