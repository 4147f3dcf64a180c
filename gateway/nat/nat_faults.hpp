// What the stateful translation does wrong by order: which new connection collides with an earlier
// one, and which is to be forgotten or changed, and when.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "gateway/nat/connection_table.hpp"
#include "gateway/nat/nat_config.hpp"
#include "gateway/timeline.hpp"

namespace natxy::gateway {

class NatFaults {
 public:
  explicit NatFaults(const std::vector<NatFault>& faults);

  // The external endpoint that a new connection is to share with an earlier one of another inside
  // endpoint to the same remote one. Absent: its turn has not come, or there is no such connection;
  // it is then the turn of the next.
  [[nodiscard]] std::optional<Ipv4Endpoint> collision(const InsideEndpoint& inside,
                                                      const Ipv4Endpoint& remote,
                                                      const ConnectionTable& table);
  void created(EntryNumber entry, const ConnectionTable& table, Nanoseconds now_ns);

  struct Alarm {
    EntryNumber entry;
    std::uint64_t ordinal;
    bool forgets;  // else: changes
  };
  // Absent: nothing is due. A connection that has gone in the meantime is left out.
  [[nodiscard]] std::optional<Alarm> due(const ConnectionTable& table, Nanoseconds now_ns);

 private:
  struct Earlier {
    EntryNumber entry = kNoEntry;
    std::uint64_t ordinal = 0;
  };
  void arm(const NatFault& fault, const Alarm& alarm, Nanoseconds now_ns);

  std::vector<NatFault> faults_;
  std::uint64_t collide_every_ = 0;                       // 0: never
  std::uint64_t seen_ = 0;                                // since the last collision
  std::unordered_map<std::uint64_t, Earlier> newest_to_;  // by remote endpoint; only to collide
  Timeline<Alarm> alarms_;
};

}  // namespace natxy::gateway
