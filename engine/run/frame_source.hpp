// Makes the frames of a stream from their numbers: takes buffers, which hold the template of their
// kind, and patches them.
//
// For Queue see port/tx_queue.hpp. Only its sender uses a source.
#pragma once

#include <array>
#include <cstdint>

#include "run/connection_walk.hpp"
#include "run/share.hpp"
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

  FrameSource(const StreamPlan& plan, Share share, Queue& queue) : plan_(&plan), queue_(&queue) {
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

  // Computes the values of a frame that is not due yet, so that it leaves sooner when it is due.
  void look_ahead(std::uint64_t number) {
    if (kShape.connected || plan_->mix.mixed()) return;
    ahead_ = number;
    values_ahead_ = plan_->kind(plan_->mix.only()).flow.template at<kShape>(number);
  }

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
    if (part.size == 1 && part.numbers[0] == ahead_) {
      values.set(0, values_ahead_);
    } else {
      plan.flow.template fill<kShape>(part.ordinals, part.size, values);
    }
    frame::StampLot stamps;
    stamps.fill(plan_->tag, plan_->stream.with(kind), part.numbers, part.lateness, part.size);
    if (plan.departure.avoids_zero_checksum()) {
      plan.departure.template avoid_zero_checksum<kShape>(values, stamps, part.size);
    }
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
    if (plan.departure.avoids_zero_checksum()) {
      plan.departure.template avoid_zero_checksum<kShape>(values, stamps, n);
    }
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

  void put(const KindPlan& plan, const flow::ValueLot& values, const frame::StampLot& stamps,
           const frame::LearnedLot* learned, const Part& part) {
    std::array<std::uint8_t*, kMaxBurst> octets;
    for (unsigned i = 0; i < part.size; ++i) octets[i] = Queue::data(part.frames[i]);
    plan.departure.template patch<kShape>(octets.data(), part.size, values, stamps, learned);
  }

  const StreamPlan* plan_;
  Queue* queue_;
  ConnectionWalk walk_;                     // used by streams that use connections
  std::uint64_t ahead_ = ~std::uint64_t{0};  // the number of the frame with values_ahead_
  flow::Values values_ahead_{};
};

}  // namespace natxy::run
