// The calibration gateway without its ports. Frames go in with their arrival time, and come out
// when they are due. One thread at a time may use it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "gateway/config.hpp"
#include "gateway/faults/chain.hpp"
#include "gateway/frame.hpp"
#include "gateway/nat/nat.hpp"
#include "gateway/neighbours.hpp"
#include "gateway/packet.hpp"
#include "gateway/queue.hpp"
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

  // Configures the gateway anew: the record, queues and buckets are as at the start. Times must not
  // go backwards.
  void configure(const Config& config, Nanoseconds now_ns);
  void clear(Nanoseconds now_ns);
  // Drops all frames that arrive during this time, as during a reset.
  void mute(Nanoseconds for_ns, Nanoseconds now_ns);

  // Called once per turn of the loop: counts the poll and releases the frames that are due.
  void poll(Nanoseconds now_ns);
  void receive(Side side, Octets frame, Nanoseconds now_ns);
  // Returns for how long the loop may sleep now: 0 if frames came before the last poll, or wait.
  [[nodiscard]] Nanoseconds sleep_ns() const;
  void sleep(Nanoseconds now_ns, Nanoseconds until_ns) { record_.polls.sleep(now_ns, until_ns); }

  // Returns the frames to send now. The caller empties the list, and calls sent() or refused() for
  // each frame.
  [[nodiscard]] std::vector<FramePtr>& outbox(Side side) { return outboxes_[index_of(side)]; }
  void sent(const Frame& frame, Nanoseconds now_ns);
  void refused(const Frame& frame);

  // Returns the sessions without expired connections; null without a stateful translation.
  [[nodiscard]] Sessions* sessions(Nanoseconds now_ns);

  [[nodiscard]] Record record(Nanoseconds now_ns);

 private:
  void receive_ip(Side side, Octets frame, Nanoseconds now_ns);
  template <typename Packet>
  [[nodiscard]] Routed route(Side side, const Packet& packet, Nanoseconds now_ns);
  template <typename Packet>
  [[nodiscard]] Routed route_by_state(Side side, const Packet& packet, Nanoseconds now_ns);
  [[nodiscard]] Routed route_out_of_softwire(Side side, const Ipv6Packet& packet,
                                             Nanoseconds now_ns);
  void enter_softwire(Side from, Routed& routed);
  [[nodiscard]] SideConfig side_config(Side side) const;
  [[nodiscard]] bool is_in_softwire(Side side, Octets frame) const;
  [[nodiscard]] bool is_for_forwarding(Side side, Octets frame) const;
  void hear(Side side, const NeighbourMessage& message, Nanoseconds now_ns);
  void send_to(const Hop& hop, FramePtr frame, Nanoseconds now_ns);
  void enter_faults(Side side, const Mac& to, FramePtr frame, Nanoseconds now_ns);
  void finish_work(Nanoseconds now_ns);
  void tick(Nanoseconds now_ns);
  void make_chains();
  DirectionRecord& record_of(Direction direction) {
    return record_.directions[index_of(direction)];
  }

  Links links_;
  Config config_;
  FrameStore store_;                               // declared before all members that hold frames
  std::array<std::vector<FramePtr>, 2> outboxes_;  // by Side
  Record record_;
  Router router_;
  std::optional<Softwires> softwires_;
  Subscribers subscribers_;
  std::optional<Nat> nat_;
  struct AtWork {
    Hop hop;
    FramePtr frame;
  };
  Timeline<AtWork> at_work_;            // frames that the stateful translation works on
  std::vector<Neighbours> neighbours_;  // by Side
  std::vector<FaultChain> chains_;      // by Direction
  Nanoseconds muted_until_ns_ = 0;
  bool frames_came_ = false;  // since the last poll
  bool is_idle_ = false;      // no frame came before the last poll
};

}  // namespace natxy::gateway
