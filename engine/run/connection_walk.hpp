// Which connection each frame of a stream uses (RFC 9693 phase 2): a walk over the table that skips
// what the stream does not take, without using up a frame's number. It takes what exists, but for
// an initiator of missing connections, which takes what does not.
//
// A candidate is a place in the walk's order; what a candidate stands for is a function of its
// number, as everything else. Touched by its sender alone.
#pragma once

#include <array>
#include <cstdint>

#include "flow/flow.hpp"
#include "flow/permutation.hpp"
#include "run/state_table.hpp"
#include "spec/trial_spec.hpp"

namespace natxy::run {

// What the walks of one stream share.
struct WalkPlan {
  const StateTable* table = nullptr;
  spec::Role role = spec::Role::kRespond;
  spec::Order order = spec::Order::kLinear;
  std::uint64_t connections = 1;  // numbered 0 to connections - 1
  bool whole = false;             // all of them exist
  std::uint64_t key = 0;          // of pseudorandom orders
};

class ConnectionWalk {
 public:
  ConnectionWalk() = default;
  // Takes the candidates index, index + stride, ...; all, if the stream takes none of those.
  ConnectionWalk(const WalkPlan& plan, unsigned index, unsigned stride)
      : table_(plan.table),
        order_(plan.order),
        makes_(plan.role == spec::Role::kInitiate && plan.order == spec::Order::kMissing),
        connections_(plan.connections),
        looks_(!plan.whole || plan.order == spec::Order::kMissing),
        permutation_(plan.connections, plan.key),
        first_(index < plan.connections ? index : 0),
        stride_(stride),
        next_(first_) {}

  // The connections of the next n frames, n <= kMaxLot.
  void take(std::uint64_t* to, unsigned n) {
    if (n == 0) return;
    if (order_ == spec::Order::kFixed) return take_fixed(to, n);
    before_ = next_;
    unsigned found = 0;
    std::uint64_t fruitless = 0;
    while (found < n) {
      const auto had = found;
      const auto looked = batch(to, found, n);
      fruitless = found > had ? 0 : fruitless + looked;
      if (fruitless <= connections_) [[likely]]
        continue;
      if (stride_ > 1) {
        take_from_all();
        fruitless = 0;
      } else {  // not to be: a stream is not longer than what it takes
        for (; found < n; ++found) put(to, found, last_, next_);
      }
    }
    last_ = to[n - 1];
  }

  // Of the last take() the first `left` frames left, and the other `stayed` did not.
  void keep(unsigned left, unsigned stayed) {
    if (stayed > 0) next_ = left > 0 ? after_[left - 1] : before_;
  }

 private:
  // Of a sender whose share has only holes: what other senders use serves it as well.
  void take_from_all() {
    first_ = next_ = 0;
    stride_ = 1;
  }

  // Looks at as many candidates as places are left; how many that were.
  unsigned batch(std::uint64_t* to, unsigned& found, unsigned n) {
    std::array<std::uint64_t, flow::kMaxLot> numbers;
    std::array<std::uint64_t, flow::kMaxLot> after;
    const auto wanted = n - found;
    for (unsigned i = 0; i < wanted; ++i) {
      numbers[i] = of_candidate(next_);
      if (looks_) table_->prefetch(numbers[i]);
      next_ += stride_;
      if (next_ >= connections_) next_ = first_;
      after[i] = next_;
    }
    for (unsigned i = 0; i < wanted; ++i) {
      if (takes(numbers[i])) put(to, found++, numbers[i], after[i]);
    }
    return wanted;
  }

  // The first one that exists, for ever; where it is gone the next.
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
  bool makes_ = false;  // takes what is not in the table
  std::uint64_t connections_ = 1;
  bool looks_ = false;
  flow::Permutation permutation_;  // of pseudorandom order
  std::uint64_t first_ = 0;
  std::uint64_t stride_ = 1;
  std::uint64_t next_ = 0;
  std::uint64_t before_ = 0;  // the last take()
  std::uint64_t last_ = 0;
  std::array<std::uint64_t, flow::kMaxLot> after_{};  // the candidate behind each frame's
};

}  // namespace natxy::run
