// Makes the frames of a stream from their numbers: takes buffers, which hold the template of their
// kind, and patches them.
//
// For Queue see port/tx_queue.hpp. Only its sender uses a source.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "run/assignment.hpp"
#include "run/connection_walk.hpp"
#include "run/stream_plan.hpp"

namespace natxy::run {

inline constexpr unsigned kMaxBurst = flow::kMaxLot;

// The frames that a sender sends in one call.
struct Burst {
  unsigned size;
  const std::uint64_t* numbers;
  const std::uint32_t* lateness;  // for the stamps
};

template <flow::Shape kShape, class Queue>
class FrameSource {
 public:
  using Frame = typename Queue::Frame;

  FrameSource(const StreamPlan& plan, Share share, Queue& queue)
      : plan_(&plan),
        queue_(&queue),
        only_(plan.mix.only()),
        stride_(share.count),
        looks_ahead_(!kShape.connected && !kShape.addresses_vary && !plan.mix.mixed() &&
                     plan.kind(only_).departure.can_be_early()) {
    const auto& connections = plan.kind(spec::Kind::kForeground).connections;
    if (connections) walk_ = ConnectionWalk(connections->walk, share.index, share.count);
  }

  // Writes the burst's frames to `frames`. Returns false if there are not enough buffers.
  [[nodiscard]] bool prepare(const Burst& burst, Frame* frames) {
    if (plan_->mix.mixed()) return prepare_mixed(burst, frames);
    const auto kind = plan_->mix.only();
    if (!queue_->allocate(static_cast<unsigned>(kind), frames, burst.size)) return false;
    patch(kind, {.size = burst.size,
                 .numbers = burst.numbers,
                 .ordinals = burst.numbers,
                 .lateness = burst.lateness,
                 .frames = frames});
    return true;
  }

  // Returns whether this frame was prepared ahead.
  [[nodiscard]] bool is_early(std::uint64_t number) const {
    return ahead_.next < kMaxBurst && ahead_.numbers[ahead_.next] == number;
  }
  // Does the same as prepare() for a frame that was prepared ahead.
  [[nodiscard]] bool prepare_early(std::uint32_t lateness, Frame& frame) {
    if (!queue_->allocate(static_cast<unsigned>(only_), &frame, 1)) [[unlikely]]
      return false;
    plan_->kind(only_).departure.patch_early(Queue::data(frame), ahead_.early, ahead_.next,
                                             lateness);
    ++ahead_.next;
    return true;
  }
  // Prepares the values of the frames that follow, `number` first. A lot of them costs less than
  // each by itself, and what is prepared while the sender waits does not make a frame late.
  void look_ahead(std::uint64_t number) {
    if (looks_ahead_ && !is_early(number)) [[unlikely]]
      prepare_ahead(number);
  }
  // Tells that so many frames left that were not prepared ahead.
  void pass(unsigned frames) { ahead_.next = std::min(ahead_.next + frames, kMaxBurst); }

  // Moves the walk back to after the last connection whose frame left. left: how many frames of the
  // burst that was prepared last have left.
  void keep_places(const Burst& burst, unsigned left) {
    const auto foreground = [&](unsigned from, unsigned end) {
      unsigned count = 0;
      for (unsigned i = from; i < end; ++i) {
        count += plan_->mix.at(burst.numbers[i]).kind == spec::Kind::kForeground;
      }
      return count;
    };
    walk_.keep(foreground(0, left), foreground(left, burst.size));
  }

 private:
  // Frames of one kind.
  struct Part {
    unsigned size;
    const std::uint64_t* numbers;
    const std::uint64_t* ordinals;
    const std::uint32_t* lateness;
    const Frame* frames;
  };
  struct Lot {
    unsigned size = 0;
    std::array<std::uint64_t, kMaxBurst> numbers;
    std::array<std::uint64_t, kMaxBurst> ordinals;
    std::array<std::uint32_t, kMaxBurst> lateness;
    std::array<Frame, kMaxBurst> frames;

    [[nodiscard]] Part part() const {
      return {.size = size,
              .numbers = numbers.data(),
              .ordinals = ordinals.data(),
              .lateness = lateness.data(),
              .frames = frames.data()};
    }
  };

  // The next frames of the sender, without their lateness.
  struct Ahead {
    unsigned next = kMaxBurst;
    std::array<std::uint64_t, kMaxBurst> numbers;
    frame::EarlyLot early;
  };
  [[gnu::noinline]] void prepare_ahead(std::uint64_t number) {
    constexpr std::array<std::uint32_t, kMaxBurst> kNotLate{};
    const auto& plan = plan_->kind(only_);
    for (unsigned i = 0; i < kMaxBurst; ++i) ahead_.numbers[i] = number + i * stride_;
    flow::ValueLot values;
    plan.flow.template fill<kShape>(ahead_.numbers.data(), kMaxBurst, values);
    frame::StampLot stamps;
    stamps.fill(plan_->tag, plan_->stream.with(only_), ahead_.numbers.data(), kNotLate.data(),
                kMaxBurst);
    plan.departure.prepare(values, stamps, kMaxBurst, ahead_.early);
    ahead_.next = 0;
  }

  [[nodiscard]] bool prepare_mixed(const Burst& burst, Frame* frames) {
    std::array<Lot, 2> lots;
    std::array<std::uint8_t, kMaxBurst> kinds;
    for (unsigned i = 0; i < burst.size; ++i) {
      const auto place = plan_->mix.at(burst.numbers[i]);
      kinds[i] = static_cast<std::uint8_t>(place.kind);
      auto& lot = lots[kinds[i]];
      lot.numbers[lot.size] = burst.numbers[i];
      lot.ordinals[lot.size] = place.ordinal;
      lot.lateness[lot.size++] = burst.lateness[i];
    }
    auto& [foreground, background] = lots;
    if (!queue_->allocate(0, foreground.frames.data(), foreground.size)) return false;
    if (!queue_->allocate(1, background.frames.data(), background.size)) {
      queue_->release(foreground.frames.data(), foreground.size);
      return false;
    }
    for (unsigned kind = 0; kind < 2; ++kind)
      patch(static_cast<spec::Kind>(kind), lots[kind].part());
    std::array<unsigned, 2> next{};
    for (unsigned i = 0; i < burst.size; ++i) frames[i] = lots[kinds[i]].frames[next[kinds[i]]++];
    return true;
  }

  void patch(spec::Kind kind, const Part& part) {
    const auto& plan = plan_->kind(kind);
    if constexpr (kShape.connected) {
      if (plan.connections) return patch_connected(kind, part);
    }
    flow::ValueLot values;
    plan.flow.template fill<kShape>(part.ordinals, part.size, values);
    frame::StampLot stamps;
    stamps.fill(plan_->tag, plan_->stream.with(kind), part.numbers, part.lateness, part.size);
    avoid_zero_checksum(plan, values, stamps, part.size);
    put(plan, values, stamps, nullptr, part);
  }

  // Patches frames of connections: the next ones of the walk, or those that the ordinals establish.
  void patch_connected(spec::Kind kind, const Part& part) {
    const auto& plan = plan_->kind(kind);
    const auto& use = *plan.connections;
    const auto n = part.size;
    std::array<std::uint64_t, kMaxBurst> connections;
    if (use.role == spec::Role::kEstablish) {
      for (unsigned i = 0; i < n; ++i) connections[i] = use.established_by(part.ordinals[i]);
    } else {
      walk_.take(connections.data(), n);
    }
    flow::ValueLot values;
    plan.flow.template fill<kShape>(connections.data(), n, values);
    if (use.responds()) values.swap_ends();
    frame::StampLot stamps;
    stamps.fill(plan_->tag, plan_->stream.with(kind), part.numbers, part.lateness, n);
    stamps.set_connections(connections.data(), n);
    avoid_zero_checksum(plan, values, stamps, n);
    if (!use.responds()) return put(plan, values, stamps, nullptr, part);
    frame::LearnedLot learned;
    look_up(*use.table, connections.data(), n, values, learned);
    put(plan, values, stamps, &learned, part);
  }

  // Looks up the external address and port of each connection.
  static void look_up(const StateTable& table, const std::uint64_t* connections, unsigned n,
                      flow::ValueLot& values, frame::LearnedLot& learned) {
    for (unsigned i = 0; i < n; ++i) table.prefetch(connections[i]);
    const bool ipv6 = table.addresses().prepared();
    for (unsigned i = 0; i < n; ++i) {
      const auto entry = table.at(connections[i]);
      values.destination_port[i] = entry.port();
      learned.ipv4[i] = entry.address();
      learned.ipv6[i] = ipv6 ? table.addresses().at(entry.address()).data() : nullptr;
    }
  }

  static void avoid_zero_checksum(const KindPlan& plan, const flow::ValueLot& values,
                                  frame::StampLot& stamps, unsigned n) {
    if (plan.departure.avoids_zero_checksum()) {
      plan.departure.template avoid_zero_checksum<kShape>(values, stamps, n);
    }
  }

  void put(const KindPlan& plan, const flow::ValueLot& values, const frame::StampLot& stamps,
           const frame::LearnedLot* learned, const Part& part) {
    std::array<std::uint8_t*, kMaxBurst> octets;
    for (unsigned i = 0; i < part.size; ++i) octets[i] = Queue::data(part.frames[i]);
    plan.departure.template patch<kShape>(octets.data(), part.size, values, stamps, learned);
  }

  const StreamPlan* plan_;
  Queue* queue_;
  ConnectionWalk walk_;  // used by streams that use connections
  spec::Kind only_;      // of streams that are not mixed
  std::uint64_t stride_;
  bool looks_ahead_;
  Ahead ahead_;
};

}  // namespace natxy::run
