#include "port/neighbour_task.hpp"

#include <rte_mbuf.h>
#include <rte_ring.h>

#include <array>
#include <cstring>

namespace natxy::port {
namespace {

constexpr unsigned kBurst = 32;
constexpr unsigned kDeferredAtOnce = 4;  // few, because a sender waits for this task
constexpr unsigned kBurstsAPoll = 256;   // more than any ring holds

std::span<const std::uint8_t> octets(rte_mbuf* frame) {
  return {RxQueue::data(frame), RxQueue::length(frame)};
}

}  // namespace

void NeighbourTask::step(std::uint64_t) {
  std::array<rte_mbuf*, kDeferredAtOnce> frames;
  const auto n = rte_ring_sc_dequeue_burst(
      port_->deferred(), reinterpret_cast<void**>(frames.data()), kDeferredAtOnce, nullptr);
  for (unsigned i = 0; i < n; ++i) take(octets(frames[i]), nullptr);
  rte_pktmbuf_free_bulk(frames.data(), n);
}

void NeighbourTask::poll(Resolution* resolution) {
  for (unsigned queue = 0; queue < port_->rx_queues(); ++queue) {
    poll(port_->rx_queue(queue), resolution);
  }
}

void NeighbourTask::poll(RxQueue& queue, Resolution* resolution) {
  for (unsigned burst = 0; burst < kBurstsAPoll; ++burst) {
    std::array<rte_mbuf*, kBurst> frames;
    const auto n = queue.receive(frames.data(), kBurst);
    for (unsigned i = 0; i < n; ++i) take(octets(frames[i]), resolution);
    rte_pktmbuf_free_bulk(frames.data(), n);
    if (n < kBurst) return;
  }
}

void NeighbourTask::take(std::span<const std::uint8_t> frame, Resolution* resolution) {
  const auto plain = untagged(frame, vlans_);
  if (!plain) return;
  const auto message = parse_neighbour_message(*plain);
  if (!message) return;
  if (message->type == NeighbourMessage::Type::kAnswer) {
    if (resolution != nullptr) resolution->take(*message);
  } else if (own_.contains(message->target)) {
    send(answer(*message, port_->mac()));
  }
}

// Sends a message. If the port refuses it, it is lost, and the neighbour asks again.
void NeighbourTask::send(const NeighbourFrame& untagged) {
  const auto frame = tagged(untagged, vlans_);
  auto* buffer = rte_pktmbuf_alloc(port_->answers());
  if (buffer == nullptr) return;
  std::memcpy(rte_pktmbuf_append(buffer, static_cast<std::uint16_t>(frame.size)),
              frame.octets.data(), frame.size);
  if (rte_eth_tx_burst(port_->id(), 0, &buffer, 1) != 1) rte_pktmbuf_free(buffer);
}

}  // namespace natxy::port
