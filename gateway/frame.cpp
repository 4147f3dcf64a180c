#include "gateway/frame.hpp"

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

namespace {

constexpr std::size_t kAddresses = 12;  // octets of the MAC addresses, which are before the tags
constexpr std::uint16_t kIdMask = 0x0fff;

}  // namespace

std::optional<Octets> without_tags(Octets frame, const VlanTags& tags,
                                   std::vector<std::uint8_t>& scratch) {
  if (tags.empty()) return frame;
  const auto begin = kAddresses + tags.size() * kVlanTagOctets;
  if (frame.size() < begin) return std::nullopt;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const auto* at = frame.data() + kAddresses + i * kVlanTagOctets;
    if (read16(at) != tags[i].type || (read16(at + 2) & kIdMask) != tags[i].id) return std::nullopt;
  }
  scratch.assign(frame.begin(), frame.begin() + kAddresses);
  scratch.insert(scratch.end(), frame.begin() + static_cast<std::ptrdiff_t>(begin), frame.end());
  return Octets(scratch);
}

std::size_t write_with_tags(std::uint8_t* to, Octets frame, const VlanTags& tags) {
  std::copy_n(frame.begin(), kAddresses, to);
  auto* at = to + kAddresses;
  for (const auto& tag : tags) {
    write16(at, tag.type);
    write16(at + 2, tag.id);
    at += kVlanTagOctets;
  }
  std::copy(frame.begin() + kAddresses, frame.end(), at);
  return frame.size() + tags.size() * kVlanTagOctets;
}

}  // namespace natxy::gateway
