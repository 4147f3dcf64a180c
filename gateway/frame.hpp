// The frames that the gateway holds: their sides, buffers (allocated and freed without a system
// call) and VLAN tags, and the outcome of a step of forwarding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gateway/octets.hpp"

namespace natxy::gateway {

// The gateway's two sides, and the two directions between them.
enum class Side : std::uint8_t { kLeft, kRight };
enum class Direction : std::uint8_t { kForward, kReverse };  // forward: left to right

inline constexpr std::array kSides{Side::kLeft, Side::kRight};
inline constexpr std::array kDirections{Direction::kForward, Direction::kReverse};

[[nodiscard]] constexpr std::size_t index_of(Side side) {
  return static_cast<std::size_t>(side);
}
[[nodiscard]] constexpr std::size_t index_of(Direction direction) {
  return static_cast<std::size_t>(direction);
}
[[nodiscard]] constexpr Direction direction_from(Side side) {
  return side == Side::kLeft ? Direction::kForward : Direction::kReverse;
}
[[nodiscard]] constexpr Side destination_side(Direction direction) {
  return direction == Direction::kForward ? Side::kRight : Side::kLeft;
}
[[nodiscard]] constexpr const char* name_of(Side side) {
  return side == Side::kLeft ? "left" : "right";
}

class FrameStore;

struct Frame {
  std::uint8_t* octets = nullptr;
  std::size_t length = 0;
  std::size_t capacity = 0;  // of the buffer; faults may make a frame longer
  Nanoseconds received_ns = 0;
  Direction direction = Direction::kForward;
  bool is_own = false;     // a frame of the gateway itself: ARP, Neighbour Discovery
  bool is_astray = false;  // the fault `vlan`: it leaves in another VLAN
  FrameStore* store = nullptr;
  std::size_t size_class = 0;

  [[nodiscard]] Octets view() const { return {octets, length}; }
};

struct ReturnToStore {
  void operator()(Frame* frame) const;
};
using FramePtr = std::unique_ptr<Frame, ReturnToStore>;

// Has buffers of a few sizes, so that small frames do not use the memory of large ones. Grows when
// necessary. Must outlive its frames.
class FrameStore {
 public:
  static constexpr std::size_t kMaxOctets = 16384;

  FrameStore();
  // Returns a frame of this length, at most kMaxOctets, with undefined contents.
  [[nodiscard]] FramePtr take(std::size_t length);
  [[nodiscard]] FramePtr copy(const Frame& frame);

 private:
  friend struct ReturnToStore;
  static constexpr std::array<std::size_t, 4> kSizes{128, 640, 2048, kMaxOctets + 64};
  static constexpr std::size_t kSpareOctets = 8;  // for a header that a fault adds

  void grow(std::size_t size_class);
  void give_back(Frame* frame);

  std::array<std::vector<Frame*>, kSizes.size()> free_;
  std::vector<std::unique_ptr<Frame[]>> frames_;
  std::vector<std::unique_ptr<std::uint8_t[]>> octets_;
};

inline void ReturnToStore::operator()(Frame* frame) const {
  frame->store->give_back(frame);
}

// The VLAN tags of a port (IEEE 802.1Q). Behind the port, the gateway sees frames without tags.
struct VlanTag {
  std::uint16_t type = 0x8100;  // 88a8: the outer of two tags
  std::uint16_t id = 1;
  friend bool operator==(const VlanTag&, const VlanTag&) = default;
};
using VlanTags = std::vector<VlanTag>;  // outer tag first

inline constexpr std::size_t kVlanTagOctets = 4;
inline constexpr std::size_t kMaxVlanTags = 2;

// Removes the tags from a frame. Absent if the frame is of another VLAN. A frame that had tags is
// copied to `scratch`.
[[nodiscard]] std::optional<Octets> without_tags(Octets frame, const VlanTags& tags,
                                                 std::vector<std::uint8_t>& scratch);

// Writes the frame with the tags to `to`, which has room for both. Returns the number of octets.
std::size_t write_with_tags(std::uint8_t* to, Octets frame, const VlanTags& tags);

// The outcome of a step of forwarding: the frame goes on, or it is dropped for a reason.
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
