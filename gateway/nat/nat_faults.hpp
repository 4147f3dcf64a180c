// The configured faults of the stateful translation: which new connection collides with an earlier
// one, and which connection is forgotten or changed, and when.
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

  // Returns the external endpoint that a new connection must share with an earlier connection of
  // another inside endpoint to the same remote endpoint. Absent if it is not due; if it is due but
  // there is no such connection, it is due for the next one.
  [[nodiscard]] std::optional<Ipv4Endpoint> collision(const InsideEndpoint& inside,
                                                      const Ipv4Endpoint& remote,
                                                      const ConnectionTable& table);
  void created(EntryNumber entry, const ConnectionTable& table, Nanoseconds now_ns);

  struct Alarm {
    EntryNumber entry;
    std::uint64_t ordinal;
    bool forgets;  // else: changes
  };
  // Returns the next alarm that is due, or nothing. Skips connections that no longer exist.
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
  std::unordered_map<std::uint64_t, Earlier> newest_to_;  // by remote endpoint; for collisions
  Timeline<Alarm> alarms_;
};

}  // namespace natxy::gateway
