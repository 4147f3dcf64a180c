// Records what arrivals show about their connections: fills the state table, marks answers, and
// counts replies that were delivered to another connection.
//
// Only its receiver uses it. Senders read the state table at the same time.
#pragma once

#include <cstdint>

#include "run/stream_plan.hpp"

namespace natxy::run {

struct ConnectionTally {
  std::uint64_t stored = 0;
  std::uint64_t known = 0;
  std::uint64_t changed = 0;
  std::uint64_t wrong = 0;
  std::uint64_t collided = 0;
  std::uint64_t answered = 0;        // connections that answered for the first time
  std::uint64_t ending_came = 0;     // arrivals in the last 1 % of the stream's numbers
  std::uint64_t ending_new = 0;      // new connections among these
  std::uint64_t without_number = 0;  // frames whose external IPv6 address found no room

  // Adds what another receiver of the stream has counted.
  void merge(const ConnectionTally& other) {
    stored += other.stored;
    known += other.known;
    changed += other.changed;
    wrong += other.wrong;
    collided += other.collided;
    answered += other.answered;
    ending_came += other.ending_came;
    ending_new += other.ending_new;
    without_number += other.without_number;
  }
};

class ConnectionRecorder {
 public:
  // Records the accepted frames of a lot, whose connections are in the table. accepted: one bit per
  // frame; frames: the number of frames of the stream.
  void record(const ConnectionPlan& use, const frame::ArrivalLot& lot, std::uint32_t accepted,
              std::uint64_t frames) {
    for (unsigned i = 0; i < lot.size; ++i) {
      if ((accepted >> i & 1U) == 0) continue;
      const auto connection = lot.stamps.at(i).connection();
      if (use.responds()) {
        ++tally_.known;
        if (use.ends()) tally_.answered += use.table->mark_answered(connection);
      } else {
        learn(use, lot.at(i), connection, frames);
      }
    }
  }

  // Judges a reply that arrived with the four-tuple of another connection than the one it was sent
  // to: finds that connection, and whether both have the same external four-tuple.
  template <flow::Shape kShape>
  void judge_reply(const KindPlan& plan, const frame::Claimed& claimed) {
    const auto& table = *plan.connections->table;
    const auto seen = plan.arrival.values_of(claimed);
    const auto meant = claimed.stamp.connection();
    if (!seen || meant >= table.entries()) return;
    const auto other = plan.flow.ordinal_of(seen->swapped());
    if (!other || *other >= table.entries() || *other == meant) return;
    ++tally_.wrong;
    const auto expected = plan.flow.template at<kShape>(meant).swapped();
    const bool one_responder =
        expected.source_port == seen->source_port && expected.source_field == seen->source_field;
    const auto entry = table.at(meant);
    tally_.collided += one_responder && entry.stored() && entry.same_endpoint(table.at(*other));
  }

  [[nodiscard]] const ConnectionTally& tally() const { return tally_; }

 private:
  void learn(const ConnectionPlan& use, const frame::Claimed& claimed, std::uint64_t connection,
             std::uint64_t frames) {
    const auto* source = claimed.frame + claimed.layout->source;
    const auto port = frame::read16(claimed.frame + claimed.layout->upper);
    auto address = frame::load<std::uint32_t>(source);
    if (claimed.layout->ip_version == spec::IpVersion::k6) {
      address = use.table->addresses().number_of(source);
      if (address == AddressDictionary::kFull) {
        ++tally_.without_number;
        return;
      }
    }
    const auto learned = use.table->learn(connection, Entry(address, port));
    tally_.stored += learned == Learned::kNew;
    tally_.known += learned == Learned::kKnown;
    tally_.changed += learned == Learned::kChanged;
    if (claimed.stamp.number() >= frames - (frames + 99) / 100) {
      ++tally_.ending_came;
      tally_.ending_new += learned == Learned::kNew;
    }
  }

  ConnectionTally tally_;
};

}  // namespace natxy::run
