// Buffers for the frames that the gateway holds, allocated and freed without a system call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gateway/octets.hpp"
#include "gateway/side.hpp"

namespace natxy::gateway {

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

}  // namespace natxy::gateway
