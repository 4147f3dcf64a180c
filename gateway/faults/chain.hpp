// The configured faults of one direction. A frame passes them one after the other, and may have to
// wait in some.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "gateway/config.hpp"
#include "gateway/faults/fault_time.hpp"
#include "gateway/frame.hpp"
#include "gateway/queue.hpp"
#include "gateway/record.hpp"
#include "gateway/router.hpp"

namespace natxy::gateway {

// Counts frames; is_due() is true for the frames with the numbers every, 2 * every, ...
class Cycle {
 public:
  explicit Cycle(std::uint64_t every) : every_(every) {}
  [[nodiscard]] bool is_due() {
    if (++seen_ < every_) return false;
    seen_ = 0;
    return true;
  }

 private:
  std::uint64_t every_;
  std::uint64_t seen_ = 0;
};

class FaultChain {
 public:
  struct Surroundings {
    FrameStore& store;
    DirectionRecord& record;
    std::vector<FramePtr>& out;  // receives the frames that have passed all faults
    const Subscribers& subscribers;
    std::size_t max_packet_octets;
    Nanoseconds since_ns = 0;  // the record's start
  };

  FaultChain(const std::vector<Fault>& faults, Direction direction, Surroundings surroundings);

  void enter(FramePtr frame, Nanoseconds now_ns) { pass(std::move(frame), 0, now_ns); }
  // Releases the frames that are due, in the order of their times.
  void advance(Nanoseconds now_ns) {
    while (waiting_.has_due(now_ns)) go_on(waiting_.take());
  }

  // Returns whether a frame waits in a fault.
  [[nodiscard]] bool is_waiting() const { return !waiting_.is_empty(); }

 private:
  struct LossState {
    Cycle due;
  };
  struct ChanceLossState {
    std::uint64_t share_ppm;
    Pseudorandom random;
  };
  struct DuplicateState {
    Cycle due;
  };
  struct ReorderState {
    Reorder order;
    Cycle due;
    FramePtr held;
    std::uint64_t to_pass = 0;     // frames that still have to pass the held one
    std::uint64_t generation = 0;  // counts held frames, to ignore alarms of earlier ones
  };
  struct CorruptState {
    Corrupt order;
    Cycle due;
  };
  struct BufferState {
    DrainQueue queue;
    FaultTime time;
  };
  struct SulkState {
    std::variant<TokenBucket, Recurrence> cause;
    Nanoseconds for_ns;
    FaultTime time;
    std::optional<Nanoseconds> overloaded_ns;  // time of the newest overload
  };
  using Stage = std::variant<TokenBucket, LossState, ChanceLossState, DuplicateState, ReorderState,
                             CorruptState, DelaySeries, BufferState, SulkState>;

  // A frame that waits, and the stage at which it continues; without a frame, the alarm of a
  // reordering stage.
  struct Waiting {
    FramePtr frame;
    std::size_t stage;
    std::uint64_t generation;
  };

  struct Context {
    std::size_t stage;
    Nanoseconds now_ns;
  };

  Stage make_stage(const FaultKind& kind);
  void pass(FramePtr frame, std::size_t stage, Nanoseconds now_ns);
  void go_on(std::pair<Nanoseconds, Waiting> due);
  void wait_until(Nanoseconds due_ns, FramePtr frame, Context context);
  FramePtr drop(Drop reason);

  // Each returns the frame that goes on to the next stage now, or null.
  FramePtr apply(TokenBucket& bucket, FramePtr frame, Context context);
  FramePtr apply(LossState& state, FramePtr frame, Context context);
  FramePtr apply(ChanceLossState& state, FramePtr frame, Context context);
  FramePtr apply(DuplicateState& state, FramePtr frame, Context context);
  FramePtr apply(ReorderState& state, FramePtr frame, Context context);
  FramePtr apply(CorruptState& state, FramePtr frame, Context context);
  FramePtr apply(DelaySeries& series, FramePtr frame, Context context);
  FramePtr apply(BufferState& state, FramePtr frame, Context context);
  FramePtr apply(SulkState& state, FramePtr frame, Context context);

  Surroundings surroundings_;
  std::vector<Stage> stages_;
  Timeline<Waiting> waiting_;
};

// What a fault needs to know of the gateway.
struct CorruptionSetting {
  const Subscribers& subscribers;
  std::size_t max_packet_octets;  // of the link
};

// Changes the field as docs/reference/gateway.md says for its name: most often, the lowest bit of
// its last octet. With order.fix_checksum, the checksums are updated. Returns false, without a
// change, if the frame has no such field, or if the packet would become too long.
[[nodiscard]] bool corrupt(Frame& frame, const Corrupt& order, const CorruptionSetting& setting);

}  // namespace natxy::gateway
