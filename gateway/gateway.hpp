// The calibration gateway without its ports: frames go in with the time at which they came, and
// come out when they are due. Not for several threads at a time.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "gateway/config.hpp"
#include "gateway/faults/chain.hpp"
#include "gateway/frame_store.hpp"
#include "gateway/nat/nat.hpp"
#include "gateway/neighbours.hpp"
#include "gateway/packet.hpp"
#include "gateway/record.hpp"
#include "gateway/router.hpp"
#include "gateway/translator.hpp"

namespace natxy::gateway {

struct Links {
  std::array<Mac, 2> macs;  // by Side
  std::size_t mtu_bytes = 1500;
};

class Gateway {
 public:
  Gateway(const Config& config, const Links& links, Nanoseconds now_ns);
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  // Times must not go back. A new record, queues and buckets as at the start.
  void configure(const Config& config, Nanoseconds now_ns);
  void clear(Nanoseconds now_ns);
  // Forwards nothing that comes from now on for so long: a reset, as those behind it see it.
  void mute(Nanoseconds for_ns, Nanoseconds now_ns);

  // Once a turn of the loop: counts the poll, and lets frames go on whose time has come.
  void poll(Nanoseconds now_ns);
  void receive(Side side, Octets frame, Nanoseconds now_ns);

  // Frames to send now; whoever sends them empties the list, and says what became of each.
  [[nodiscard]] std::vector<FramePtr>& outbox(Side side) { return outboxes_[index_of(side)]; }
  void sent(const Frame& frame, Nanoseconds now_ns);
  void refused(const Frame& frame);

  // Null where the configuration has no stateful translation. What has expired by now is gone.
  [[nodiscard]] Sessions* sessions(Nanoseconds now_ns);

  [[nodiscard]] Record record(Nanoseconds now_ns);

 private:
  void receive_ip(Side side, Octets frame, Nanoseconds now_ns);
  template <typename Packet>
  [[nodiscard]] Routed route(Side side, const Packet& packet, Nanoseconds now_ns);
  template <typename Packet>
  [[nodiscard]] Routed route_by_state(Side side, const Packet& packet, Nanoseconds now_ns);
  [[nodiscard]] SideConfig side_config(Side side) const;
  [[nodiscard]] bool is_for_forwarding(Side side, Octets frame) const;
  void hear(Side side, const NeighbourMessage& message, Nanoseconds now_ns);
  void send_to(const Hop& hop, FramePtr frame, Nanoseconds now_ns);
  void enter_faults(Side side, const Mac& to, FramePtr frame, Nanoseconds now_ns);
  void tick(Nanoseconds now_ns);
  void make_chains();
  DirectionRecord& record_of(Direction direction) {
    return record_.directions[index_of(direction)];
  }

  Links links_;
  Config config_;
  FrameStore store_;                               // before all that holds frames
  std::array<std::vector<FramePtr>, 2> outboxes_;  // by Side
  Record record_;
  Router router_;
  std::optional<Nat> nat_;
  std::vector<Neighbours> neighbours_;  // by Side
  std::vector<FaultChain> chains_;      // by Direction
  Nanoseconds muted_until_ns_ = 0;
  bool frames_came_ = false;  // since the last poll
};

}  // namespace natxy::gateway
