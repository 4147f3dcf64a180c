// The sessions of the stateful translation: creates, uses and removes connections (RFC 6146, 3).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "gateway/frame.hpp"
#include "gateway/nat/connection_table.hpp"
#include "gateway/nat/external_endpoints.hpp"
#include "gateway/nat/nat_config.hpp"
#include "gateway/queue.hpp"

namespace natxy::gateway {

// The configured faults of the stateful translation: which new connection collides with an earlier
// one, and which connection is forgotten or changed, and when.
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

// The result of opening a connection. If `connection` is absent, it was refused for this reason.
struct Opened {
  std::optional<Connection> connection;
  Drop reason = Drop::kNatUnknown;
  Nanoseconds leaves_ns = 0;  // when the work for the packet is done
};

class Sessions {
 public:
  explicit Sessions(const NatConfig& config);

  // Return the connection of a packet and mark it as used; create it if this is allowed. Times must
  // not go backwards.
  [[nodiscard]] Opened outbound(const InsideEndpoint& inside, const Ipv4Endpoint& remote,
                                Nanoseconds now_ns);
  [[nodiscard]] Opened inbound(const Ipv4Endpoint& external, const Ipv4Endpoint& remote,
                               Nanoseconds now_ns);

  // Removes connections that have not been used for the timeout, and carries out due faults.
  void advance(Nanoseconds now_ns);
  // Deletes all connections, in the time that the configuration sets. Returns how many there were.
  using Clock = std::function<Nanoseconds()>;
  std::uint64_t flush(const Clock& clock);
  void clear();  // resets table, record, token buckets and choice of ports
  void set_timeout(Nanoseconds timeout_ns) { config_.timeout_ns = timeout_ns; }
  // Forget or change the n-th connection that was created. Return false if it is not in the table.
  bool forget(std::uint64_t ordinal);
  bool change(std::uint64_t ordinal);

  [[nodiscard]] std::uint64_t count() const { return table_.size(); }
  [[nodiscard]] NatRecord record() const;

 private:
  [[nodiscard]] bool maps_endpoints() const {
    return config_.mapping == Dependence::kEndpointIndependent;
  }
  [[nodiscard]] bool is_free(const Ipv4Endpoint& external, const Ipv4Endpoint& remote) const;
  [[nodiscard]] bool has_all_its_ports(const InsideEndpoint& inside) const;
  [[nodiscard]] std::optional<Ipv4Endpoint> choose_external(const InsideEndpoint& inside,
                                                            const Ipv4Endpoint& remote);
  // Room for a new connection, or why there is none.
  struct Room {
    std::optional<Drop> refusal;
    Nanoseconds leaves_ns = 0;
  };
  [[nodiscard]] Room make_room(Nanoseconds now_ns);
  [[nodiscard]] std::optional<Nanoseconds> work(Nanoseconds now_ns, std::uint64_t packets);
  Opened refuse(Drop reason);
  Opened create(const Connection& connection, Nanoseconds now_ns, const Room& room);
  Opened use(EntryNumber entry, Nanoseconds now_ns);
  void remove(EntryNumber entry);
  void remove_all();
  void change_entry(EntryNumber entry);
  [[nodiscard]] std::optional<TokenBucket> new_bucket() const;
  [[nodiscard]] std::optional<TokenBucket> work_bucket() const;
  [[nodiscard]] std::optional<DrainQueue> work_queue() const;

  NatConfig config_;
  ConnectionTable table_;
  MappingTable mappings_;  // used with endpoint-independent mapping only
  ExternalEndpoints endpoints_;
  std::map<Uint128, std::uint32_t> ports_of_;  // of inside addresses, if their number is limited
  std::optional<TokenBucket> new_rate_;
  std::optional<TokenBucket> work_;  // of the limits on work, at most one is there
  std::optional<DrainQueue> queued_work_;
  NatFaults faults_;
  NatRecord record_;
};

}  // namespace natxy::gateway
