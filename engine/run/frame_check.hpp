// Checks whether arriving frames look as their numbers say.
//
// For the checks of a frame's octets see frame/arrival.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "run/arrivals.hpp"
#include "run/stream_plan.hpp"

namespace natxy::run {

template <flow::Shape kShape>
class FrameCheck {
 public:
  using Numbers = std::array<std::uint64_t, flow::kMaxLot>;

  // plan: the stream that arrives; the other functions must not be called if it is null.
  // hop_limits: required on arrival, by kind; what is 0 is learned from the first arrival.
  // arrivals: of the stream, whose receivers learn the same hop limits.
  FrameCheck(const StreamPlan* plan, const std::array<frame::HopLimits, 2>& hop_limits,
             Arrivals* arrivals)
      : plan_(plan), hop_limits_(hop_limits), arrivals_(arrivals) {}

  // Returns which frames of the lot match their numbers, and writes these to `read`.
  [[nodiscard]] frame::LotJudgement judge(spec::Kind kind, const frame::ArrivalLot& lot,
                                          Numbers& read) const {
    const auto& plan = plan_->kind(kind);
    const auto stream = plan_->stream.with(kind);
    const auto frames = plan_->schedule.frames();
    std::uint32_t known = 0;
    Numbers numbers;  // a local copy, which no store can alias
    for (unsigned i = 0; i < lot.size; ++i) read[i] = numbers[i] = lot.stamps.at(i).number();
    for (unsigned i = 0; i < lot.size; ++i) {
      const bool ours = numbers[i] < frames && lot.stamps.at(i).stream() == stream;
      known |= static_cast<std::uint32_t>(ours) << i;
    }
    auto& ordinals = numbers;
    if (plan_->mix.mixed()) {
      for (unsigned i = 0; i < lot.size; ++i) {
        const auto place = plan_->mix.at(numbers[i]);
        ordinals[i] = place.ordinal;
        known &= ~(static_cast<std::uint32_t>(place.kind != kind) << i);
      }
    }
    flow::ValueLot values;
    if (kShape.connected && plan.connections) {
      Numbers connections;
      known &= read_connections(*plan.connections, lot, connections);
      plan.flow.template fill<kShape>(connections.data(), lot.size, values);
      if (plan.connections->responds()) values.swap_ends();
      if (plan.arrival.learns_source()) plan.arrival.read_source_ports(lot, values);
    } else {
      plan.flow.template fill<kShape>(ordinals.data(), lot.size, values);
    }
    auto judgement = plan.arrival.template judge<kShape>(
        lot, values, hop_limits_[static_cast<std::size_t>(kind)]);
    judgement.right &= known;
    return judgement;
  }

  // Checks one frame, one check after the other, and returns its defect. Learns the hop limit from
  // the first frame, if the spec does not say it.
  [[nodiscard]] frame::Defect defect_of(const frame::Claimed& claimed) {
    const auto& claimed_kind = plan_->kind(claimed.stamp.stream().kind());
    const auto form = frame::defect_of_form(claimed, claimed_kind.arrival.may_lack_checksum());
    if (form != frame::Defect::kNone) return form;
    const auto number = claimed.stamp.number();
    if (number >= plan_->schedule.frames()) return frame::Defect::kNumber;
    const auto place = plan_->mix.at(number);
    if (claimed.stamp.stream() != plan_->stream.with(place.kind)) return frame::Defect::kNumber;
    const auto& kind = plan_->kind(place.kind);
    auto& hop_limits = hop_limits_[static_cast<std::size_t>(place.kind)];
    const bool known = hop_limits.inner != 0 && hop_limits.outer != 0;
    if (!known && kind.arrival.expects(claimed.layout)) {
      const auto agreed = arrivals_->agree_on_hop_limits(static_cast<std::size_t>(place.kind),
                                                         claimed.hop_limits());
      if (hop_limits.inner == 0) hop_limits.inner = agreed.inner;
      if (hop_limits.outer == 0) hop_limits.outer = agreed.outer;
    }
    auto ordinal = place.ordinal;
    if (kind.connections) {
      ordinal = claimed.stamp.connection();
      if (ordinal >= kind.connections->table->entries()) return frame::Defect::kNumber;
    }
    auto values = kind.flow.template at<kShape>(ordinal);
    if (kind.connections && kind.connections->responds()) values = values.swapped();
    if (kind.arrival.learns_source()) {
      values.source_port = frame::read16(claimed.frame + claimed.layout->upper);
    }
    return kind.arrival.check(claimed, values, hop_limits);
  }

  // Returns whether an earlier phase sent the frame in this direction.
  [[nodiscard]] bool straggles(frame::StreamId stream) const {
    const auto own = plan_->stream;
    return stream.direction() == own.direction() && stream.phase() < own.phase();
  }

  // Returns the hop limits that are required on arrival, by kind; 0 if they have not been learned.
  [[nodiscard]] const std::array<frame::HopLimits, 2>& hop_limits() const { return hop_limits_; }

 private:
  // Reads the connections of a lot's frames; 0 for one that is not in the table. Returns one bit
  // per frame: its connection is in the table.
  [[nodiscard]] static std::uint32_t read_connections(const ConnectionPlan& use,
                                                      const frame::ArrivalLot& lot,
                                                      Numbers& connections) {
    std::uint32_t known = 0;
    for (unsigned i = 0; i < lot.size; ++i) {
      const auto connection = lot.stamps.at(i).connection();
      const bool inside = connection < use.table->entries();
      connections[i] = inside ? connection : 0;
      known |= static_cast<std::uint32_t>(inside) << i;
      if (inside) use.table->prefetch_to_write(connection);
    }
    return known;
  }

  const StreamPlan* plan_;
  std::array<frame::HopLimits, 2> hop_limits_;
  Arrivals* arrivals_;
};

}  // namespace natxy::run
