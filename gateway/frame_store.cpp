#include "gateway/frame_store.hpp"

#include <algorithm>

namespace natxy::gateway {

FrameStore::FrameStore() {
  grow(0);
}

FramePtr FrameStore::take(std::size_t length) {
  std::size_t size_class = 0;
  while (kSizes[size_class] < length + kSpareOctets) ++size_class;
  if (free_[size_class].empty()) grow(size_class);
  auto* frame = free_[size_class].back();
  free_[size_class].pop_back();
  frame->length = length;
  frame->is_own = false;
  frame->is_astray = false;
  return FramePtr(frame);
}

FramePtr FrameStore::copy(const Frame& frame) {
  auto twin = take(frame.length);
  std::copy_n(frame.octets, frame.length, twin->octets);
  twin->received_ns = frame.received_ns;
  twin->direction = frame.direction;
  twin->is_own = frame.is_own;
  twin->is_astray = frame.is_astray;
  return twin;
}

void FrameStore::grow(std::size_t size_class) {
  constexpr std::size_t kChunkOctets = 512 * 1024;
  const auto size = kSizes[size_class];
  const auto count = kChunkOctets / size;
  auto& octets = octets_.emplace_back(std::make_unique<std::uint8_t[]>(count * size));
  auto& frames = frames_.emplace_back(std::make_unique<Frame[]>(count));
  for (std::size_t i = 0; i < count; ++i) {
    frames[i].octets = octets.get() + i * size;
    frames[i].capacity = size;
    frames[i].store = this;
    frames[i].size_class = size_class;
    free_[size_class].push_back(&frames[i]);
  }
}

void FrameStore::give_back(Frame* frame) {
  free_[frame->size_class].push_back(frame);
}

}  // namespace natxy::gateway
