// Selects the connection that each frame of a stream uses (RFC 9693 phase 2). The walk goes over
// the state table and skips connections that the stream does not use; a skipped connection takes no
// frame number. The stream uses connections that exist; an initiator with the order `missing` uses
// those that do not.
//
// A candidate is a position in the walk's order; its connection is a function of this position.
// Only its sender uses a walk.
#pragma once

#include <array>
#include <cstdint>

#include "flow/flow.hpp"
#include "flow/permutation.hpp"
#include "run/state_table.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::run {

// The data that the walks of one stream share.
struct WalkPlan {
  const StateTable* table = nullptr;
  spec::Role role = spec::Role::kRespond;
  spec::Order order = spec::Order::kLinear;
  bool answered = false;          // a connection must have answered: TCP after its SYN/ACK
  std::uint64_t connections = 1;  // numbered 0 to connections - 1
  bool whole = false;             // all of them exist, and have answered if they must
  std::uint64_t key = 0;          // key of the pseudorandom order
};

class ConnectionWalk {
 public:
  ConnectionWalk() = default;
  // Visits the candidates index, index + stride, ...; all candidates if none of those can be used.
  ConnectionWalk(const WalkPlan& plan, unsigned index, unsigned stride)
      : table_(plan.table),
        order_(plan.order),
        answered_(plan.answered),
        makes_(plan.role == spec::Role::kInitiate && plan.order == spec::Order::kMissing),
        connections_(plan.connections),
        looks_(!plan.whole || plan.order == spec::Order::kMissing),
        permutation_(plan.connections, plan.key),
        first_(index < plan.connections ? index : 0),
        stride_(stride),
        next_(first_) {}

  // Writes the connections of the next n frames to `to`; n <= kMaxLot.
  void take(std::uint64_t* to, unsigned n) {
    if (n == 0) return;
    if (order_ == spec::Order::kFixed) return take_fixed(to, n);
    before_ = next_;
    unsigned filled = 0;
    std::uint64_t fruitless = 0;
    while (filled < n) {
      const auto had = filled;
      const auto looked = batch(to, filled, n);
      fruitless = filled > had ? 0 : fruitless + looked;
      if (fruitless <= connections_) [[likely]]
        continue;
      if (stride_ > 1) {
        take_from_all();
        fruitless = 0;
      } else {  // must not happen: a stream has no more frames than connections to use
        for (; filled < n; ++filled) put(to, filled, last_, next_);
      }
    }
    last_ = to[n - 1];
  }

  // Goes back after the last take(): its first `left` frames left, the other `stayed` did not.
  void keep(unsigned left, unsigned stayed) {
    if (stayed > 0) next_ = left > 0 ? after_[left - 1] : before_;
  }

 private:
  // Visits all candidates from now on, because none of this sender's share can be used.
  void take_from_all() {
    first_ = next_ = 0;
    stride_ = 1;
  }

  // Visits as many candidates as connections are still needed. Returns how many it visited.
  unsigned batch(std::uint64_t* to, unsigned& filled, unsigned n) {
    std::array<std::uint64_t, flow::kMaxLot> numbers;
    std::array<std::uint64_t, flow::kMaxLot> after;
    const auto missing = n - filled;
    for (unsigned i = 0; i < missing; ++i) {
      numbers[i] = of_candidate(next_);
      if (looks_) table_->prefetch(numbers[i]);
      next_ += stride_;
      if (next_ >= connections_) next_ = first_;
      after[i] = next_;
    }
    for (unsigned i = 0; i < missing; ++i) {
      if (takes(numbers[i])) put(to, filled++, numbers[i], after[i]);
    }
    return missing;
  }

  // Uses the first connection that exists for all frames; the next one if it no longer exists.
  void take_fixed(std::uint64_t* to, unsigned n) {
    before_ = next_;
    for (std::uint64_t looked = 0; looked < connections_ && !takes(next_); ++looked) {
      next_ = next_ + 1 < connections_ ? next_ + 1 : 0;
    }
    for (unsigned i = 0; i < n; ++i) put(to, i, next_, next_);
  }

  void put(std::uint64_t* to, unsigned i, std::uint64_t number, std::uint64_t after) {
    to[i] = number;
    after_[i] = after;
  }

  [[nodiscard]] bool takes(std::uint64_t number) const {
    if (!looks_) return true;
    const auto entry = table_->at(number);
    if (makes_) return !entry.stored();
    if (answered_) return entry.answered();
    return entry.stored() && !(order_ == spec::Order::kMissing && entry.answered());
  }

  [[nodiscard]] std::uint64_t of_candidate(std::uint64_t candidate) const {
    using enum spec::Order;
    if (order_ == kDecreasing) return connections_ - 1 - candidate;
    if (order_ == kPseudorandom) return permutation_.at(candidate);
    return candidate;
  }

  const StateTable* table_ = nullptr;
  spec::Order order_ = spec::Order::kLinear;
  bool answered_ = false;
  bool makes_ = false;  // uses connections that are not in the table
  std::uint64_t connections_ = 1;
  bool looks_ = false;
  flow::Permutation permutation_;  // the pseudorandom order
  std::uint64_t first_ = 0;
  std::uint64_t stride_ = 1;
  std::uint64_t next_ = 0;
  std::uint64_t before_ = 0;  // next_ before the last take()
  std::uint64_t last_ = 0;
  std::array<std::uint64_t, flow::kMaxLot> after_{};  // next_ after each frame's candidate
};

}  // namespace natxy::run
