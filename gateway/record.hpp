// The record of what the gateway did since it was configured or the record was cleared.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "gateway/absences.hpp"
#include "gateway/config.hpp"
#include "gateway/histogram.hpp"
#include "gateway/nat/nat_record.hpp"
#include "gateway/octets.hpp"
#include "gateway/outcome.hpp"
#include "gateway/side.hpp"

namespace natxy::gateway {

// The record of the fault `sulk`. Times are since the record's start; if the fault uses departure
// times, since the first departure.
struct SulkRecord {
  Nanoseconds newest_overload_ns = 0;
  Nanoseconds last_drop_ns = 0;
  std::uint64_t last_number = 0;  // of the frame that was dropped last, if it has a number
};

struct DirectionRecord {
  std::uint64_t received = 0;  // frames to be forwarded, including dropped ones
  std::uint64_t forwarded = 0;
  std::array<std::uint64_t, kDropNames.size()> dropped{};  // by Drop
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::array<std::uint64_t, kCorruptFieldNames.size()> corrupted{};  // by CorruptField
  SulkRecord sulk;
  Histogram delay_ns;

  void clear() {
    sulk = {};
    received = forwarded = duplicated = reordered = 0;
    dropped.fill(0);
    corrupted.fill(0);
    delay_ns.clear();
  }
  void count(Drop drop) { ++dropped[index_of(drop)]; }
};

class PollRecord {
 public:
  static constexpr Nanoseconds kAwayNs = 100'000;

  PollRecord(Nanoseconds since_ns, Nanoseconds idle_ns) : since_ns_(since_ns), idle_ns_(idle_ns) {}

  // Counts a poll. frames_came: the receive calls before this poll found frames. The first poll has
  // no gap before it, so that the time of a clear does not count.
  void poll(Nanoseconds now_ns, bool frames_came) {
    const auto away_ns = end_gap(now_ns);
    ++polls_;
    if (frames_came) away_ns_ += unmet_away_ns_ + away_ns;
    unmet_away_ns_ = frames_came ? 0 : away_ns;
  }

  // Notes that the loop sleeps from now on. The next gap begins when it should wake up.
  void sleep(Nanoseconds now_ns, Nanoseconds until_ns) {
    unmet_away_ns_ += end_gap(now_ns);
    last_ns_ = until_ns;
  }

  [[nodiscard]] Nanoseconds since_ns() const { return since_ns_; }
  [[nodiscard]] Nanoseconds worst_gap_ns() const { return worst_gap_ns_; }
  // Returns the total of the gaps longer than kAwayNs during which frames waited. These frames are
  // found by the receive calls before the poll, or, if the gap came after those calls, before the
  // next poll.
  [[nodiscard]] Nanoseconds away_ns() const { return away_ns_; }
  // Returns the gaps longer than kAwayNs, whether or not frames waited.
  [[nodiscard]] const Absences& absences() const { return absences_; }
  [[nodiscard]] std::uint64_t gaps_over_idle() const { return gaps_over_idle_; }
  [[nodiscard]] std::uint64_t polls() const { return polls_; }

 private:
  // Ends the gap since the last poll or sleep. Returns its length if it is an absence, else 0.
  Nanoseconds end_gap(Nanoseconds now_ns) {
    const auto gap_ns = polls_ == 0 || now_ns < last_ns_ ? 0 : now_ns - last_ns_;
    last_ns_ = now_ns;
    worst_gap_ns_ = std::max(worst_gap_ns_, gap_ns);
    if (idle_ns_ != 0 && gap_ns > idle_ns_) ++gaps_over_idle_;
    if (gap_ns <= kAwayNs) return 0;
    absences_.add({.from_ns = now_ns - gap_ns, .until_ns = now_ns});
    return gap_ns;
  }

  Nanoseconds since_ns_;
  Nanoseconds last_ns_ = 0;  // the last poll, or the end of the sleep after it
  Nanoseconds idle_ns_;
  Nanoseconds worst_gap_ns_ = 0;
  Nanoseconds away_ns_ = 0;
  Nanoseconds unmet_away_ns_ = 0;  // the gap before the last poll, if no frame waited yet
  Absences absences_;
  std::uint64_t gaps_over_idle_ = 0;
  std::uint64_t polls_ = 0;
};

struct Record {
  std::array<DirectionRecord, 2> directions;  // by Direction
  PollRecord polls;
  Nanoseconds taken_ns = 0;  // when this copy was made
  Nanoseconds muted_ns = 0;  // total time of the mute requests
  std::optional<NatRecord> nat = std::nullopt;

  [[nodiscard]] const DirectionRecord& of(Direction direction) const {
    return directions[index_of(direction)];
  }
};

}  // namespace natxy::gateway
