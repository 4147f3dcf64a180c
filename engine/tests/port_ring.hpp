// A port over rings, into which the test puts frames and from which it takes them.
#pragma once

#include <rte_mbuf.h>
#include <rte_ring.h>

#include <cstring>
#include <memory>
#include <vector>

#include "port/port.hpp"

namespace natxy::tests {

using Octets = std::vector<std::uint8_t>;

class RingCable {
 public:
  RingCable()
      : to_port_(port::make_ring(1024, port::Producers::kOne)),
        from_port_(port::make_ring(1024, port::Producers::kMany)),
        pool_(port::create_pool({.name = "test", .frames = 2047})) {}

  // device: whose driver's traits the port has.
  std::unique_ptr<port::Port> port(spec::Side side, unsigned queues = 1,
                                   const char* device = "ring", port::PortClock::Read clock = {}) {
    port::PortOptions options{.side = side, .device = port::parse_device(device)};
    options.workers = 2;
    options.tx_queues = queues;
    options.clock = std::move(clock);
    return std::make_unique<port::Port>(
        options, port::EthDevice::over_rings({to_port_.get()}, {from_port_.get()}, queues));
  }

  // Puts a frame in segments of the given sizes; in one segment if none are given.
  void put(const Octets& octets, std::vector<std::size_t> pieces = {}) {
    if (pieces.empty()) pieces = {octets.size()};
    rte_mbuf* whole = nullptr;
    std::size_t at = 0;
    for (const auto size : pieces) {
      auto* piece = rte_pktmbuf_alloc(pool_.get());
      std::memcpy(rte_pktmbuf_append(piece, static_cast<std::uint16_t>(size)), &octets[at], size);
      at += size;
      if (whole == nullptr) {
        whole = piece;
      } else {
        rte_pktmbuf_chain(whole, piece);
      }
    }
    rte_ring_enqueue(to_port_.get(), whole);
  }

  // Returns the next frame that the port sent; empty if there is none.
  Octets take() {
    void* object = nullptr;
    if (rte_ring_dequeue(from_port_.get(), &object) != 0) return {};
    auto* frame = static_cast<rte_mbuf*>(object);
    const auto* data = rte_pktmbuf_mtod(frame, const std::uint8_t*);
    Octets octets(data, data + frame->data_len);
    rte_pktmbuf_free(frame);
    return octets;
  }

  [[nodiscard]] unsigned unused() const { return rte_mempool_avail_count(pool_.get()); }

 private:
  port::Ring to_port_;
  port::Ring from_port_;
  port::Pool pool_;
};

}  // namespace natxy::tests
