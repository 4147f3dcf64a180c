// Fake ports for tests of the loops without DPDK: buffers are real, the wire is a list.
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "run/clock.hpp"

namespace natxy::tests {

struct FakeFrame {
  std::vector<std::uint8_t> octets;
  unsigned kind = 0;
};

// A clock that a test sets. Static, like the clocks of the loops.
struct FakeClock {
  static inline run::Ticks time = 0;
  static run::Ticks now() { return time; }
};

// The wire between a sender and a receiver. It has a lock instead of a ring, which gives TSan an
// order.
class Wire {
 public:
  using Frames = std::vector<std::vector<std::uint8_t>>;
  void put(const std::vector<std::uint8_t>& octets) {
    if (cut) return;
    const auto queue = flow_hash(octets) % (further.size() + 1);
    if (queue > 0) return further[queue - 1]->put(octets);
    const std::lock_guard lock(mutex_);
    (holding_ ? held_ : frames_).push_back(octets);
  }
  // A gateway that is away: frames wait in it until release() delivers them at once to a ring with
  // room for this many. The others are lost; returns their number.
  void hold() {
    const std::lock_guard lock(mutex_);
    holding_ = true;
  }
  std::size_t release(std::size_t ring_frames) {
    const std::lock_guard lock(mutex_);
    holding_ = false;
    for (; !held_.empty() && frames_.size() < ring_frames; held_.pop_front()) {
      frames_.push_back(std::move(held_.front()));
    }
    return std::exchange(held_, {}).size();
  }
  std::size_t held() {
    const std::lock_guard lock(mutex_);
    return held_.size();
  }
  bool take(std::vector<std::uint8_t>& octets) {
    const std::lock_guard lock(mutex_);
    if (frames_.empty()) return false;
    octets = std::move(frames_.front());
    frames_.pop_front();
    return true;
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return frames_.size();
  }
  bool cut = false;  // set before threads run
  // Of a port with several receive queues, the wires to all but the first. Set before threads run.
  std::vector<Wire*> further;

 private:
  // Hashes the IPv4 addresses and ports, or the source address of IPv6.
  static std::size_t flow_hash(const std::vector<std::uint8_t>& octets) {
    constexpr std::size_t kFrom = 26;
    constexpr std::size_t kTo = 38;
    std::uint64_t hash = 0xcbf29ce484222325;
    for (auto i = kFrom; i < std::min(kTo, octets.size()); ++i) {
      hash = (hash ^ octets[i]) * 0x100000001b3;
    }
    return hash >> 32U;
  }

  std::mutex mutex_;
  std::deque<std::vector<std::uint8_t>> frames_;
  std::deque<std::vector<std::uint8_t>> held_;
  bool holding_ = false;
};

class FakeTxQueue {
 public:
  using Frame = FakeFrame*;
  explicit FakeTxQueue(Wire& wire) : wire_(wire) {}

  void fill(unsigned kind, std::span<const std::uint8_t> octets, std::size_t = 0, bool = false) {
    templates_[kind].assign(octets.begin(), octets.end());
  }
  bool allocate(unsigned kind, Frame* frames, unsigned n) {
    if (outstanding_ + n > pool_size) return false;
    outstanding_ += n;
    for (unsigned i = 0; i < n; ++i) {
      frames[i] = new FakeFrame{.octets = templates_[kind], .kind = kind};
    }
    return true;
  }
  static std::uint8_t* data(Frame frame) { return frame->octets.data(); }
  unsigned send(Frame* frames, unsigned n) {
    ++calls;
    const auto accepted = std::min(n, accept ? accept(n) : n);
    for (unsigned i = 0; i < accepted; ++i) wire_.put(frames[i]->octets);
    release(frames, accepted);
    return accepted;
  }
  void release(Frame* frames, unsigned n) {
    for (unsigned i = 0; i < n; ++i) delete frames[i];
    outstanding_ -= n;
  }
  [[nodiscard]] bool refusal_is_gateways() const { return gateways_fault; }

  std::function<unsigned(unsigned)> accept;
  bool gateways_fault = false;
  unsigned pool_size = 1024;
  std::uint64_t calls = 0;
  [[nodiscard]] unsigned outstanding() const { return outstanding_; }

 private:
  Wire& wire_;
  std::array<std::vector<std::uint8_t>, 2> templates_;
  unsigned outstanding_ = 0;
};

class FakeRxQueue {
 public:
  using Frame = FakeFrame*;
  explicit FakeRxQueue(Wire& wire) : wire_(wire) {}

  unsigned receive(Frame* frames, unsigned n) {
    if (before_receive) before_receive();
    unsigned count = 0;
    std::vector<std::uint8_t> octets;
    while (count < n && wire_.take(octets)) {
      frames[count++] = new FakeFrame{.octets = std::move(octets)};
    }
    return count;
  }
  static const std::uint8_t* data(Frame frame) { return frame->octets.data(); }
  static std::uint32_t length(Frame frame) {
    return static_cast<std::uint32_t>(frame->octets.size());
  }
  static void prefetch(Frame) {}
  // For a port with time stamps: the time from the stamp to the poll, as the test sets it.
  [[nodiscard]] bool stamps() const { return static_cast<bool>(waits); }
  void tend(run::Ticks) {}
  run::Ticks waited(Frame frame, run::Ticks) { return waits(frame->octets); }
  void release(Frame* frames, unsigned n) {
    for (unsigned i = 0; i < n; ++i) delete frames[i];
  }
  void defer(Frame frame) {
    ++deferred;
    delete frame;
  }
  unsigned deferred = 0;
  std::function<void()> before_receive;  // called before each receive, while the receiver is away
  std::function<run::Ticks(const std::vector<std::uint8_t>&)> waits;

 private:
  Wire& wire_;
};

}  // namespace natxy::tests
