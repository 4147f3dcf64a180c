// The outcome of a step of forwarding: the frame goes on, or it is dropped for a reason.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "gateway/frame_store.hpp"
#include "gateway/octets.hpp"

namespace natxy::gateway {

enum class Drop : std::uint8_t {
  kRateLimit,
  kLoss,
  kBuffer,
  kSulk,
  kMute,
  kNoRoute,
  kNoNeighbour,
  kHopLimit,
  kMalformed,
  kTransmit,
  kNatFull,
  kNatRate,
  kNatLimit,
  kNatPorts,
  kNatUnknown,
  kNatProtocol,
  kSoftwire  // the inner source does not belong to the outer one
};

inline constexpr std::array<const char*, 17> kDropNames{
    "rate_limit",   "loss",      "buffer",      "sulk",         "mute",     "no_route",
    "no_neighbour", "hop_limit", "malformed",   "transmit",     "nat_full", "nat_rate",
    "nat_limit",    "nat_ports", "nat_unknown", "nat_protocol", "softwire"};

[[nodiscard]] constexpr std::size_t index_of(Drop drop) {
  return static_cast<std::size_t>(drop);
}

struct Outcome {
  FramePtr frame;  // null if the frame was dropped
  Drop reason = Drop::kMalformed;
  Nanoseconds leaves_ns = 0;  // when the frame goes on, if not at once

  [[nodiscard]] static Outcome passes(FramePtr frame, Nanoseconds leaves_ns = 0) {
    return {.frame = std::move(frame), .leaves_ns = leaves_ns};
  }
  [[nodiscard]] static Outcome drops(Drop reason) { return {.frame = nullptr, .reason = reason}; }
};

}  // namespace natxy::gateway
