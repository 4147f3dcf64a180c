// Stateful translation of UDP, IPv4 to IPv4 or IPv6 to IPv4: packets in, packets out.
#pragma once

#include <cstdint>
#include <optional>

#include "gateway/nat/nat_config.hpp"
#include "gateway/nat/nat_record.hpp"
#include "gateway/nat/rewriting.hpp"
#include "gateway/nat/sessions.hpp"
#include "gateway/outcome.hpp"
#include "gateway/packet.hpp"
#include "gateway/side.hpp"
#include "gateway/translator.hpp"

namespace natxy::gateway {

struct NatTranslated {
  Outcome outcome;
  IpAddress destination;  // where the frame goes; meaningless where the packet was dropped
};

class Nat {
 public:
  explicit Nat(const NatConfig& config);

  // From inside what is bound for outside (NAT64: by its prefix), from outside what is for the
  // pool.
  [[nodiscard]] bool takes(Side from, const Ipv4Packet& packet) const;
  [[nodiscard]] bool takes(Side from, const Ipv6Packet& packet) const;
  [[nodiscard]] bool is_external(Side from, const IpAddress& address) const;

  // Where a packet from inside goes to; absent for one from outside, which only its connection
  // says.
  [[nodiscard]] std::optional<IpAddress> remote_of(Side from, const Ipv4Packet& packet) const;
  [[nodiscard]] std::optional<IpAddress> remote_of(Side from, const Ipv6Packet& packet) const;

  // Of packets that it takes, whose hop limit may be lowered.
  [[nodiscard]] NatTranslated translate(Side from, const Ipv4Packet& packet, Nanoseconds now_ns,
                                        FrameStore& store);
  [[nodiscard]] NatTranslated translate(Side from, const Ipv6Packet& packet, Nanoseconds now_ns,
                                        FrameStore& store);

  [[nodiscard]] Sessions& sessions() { return sessions_; }
  void clear();
  [[nodiscard]] NatRecord record() const;

 private:
  [[nodiscard]] NatTranslated to_outside(const Ipv4Packet& packet, Nanoseconds now_ns,
                                         FrameStore& store);
  [[nodiscard]] NatTranslated to_inside(const Ipv4Packet& packet, Nanoseconds now_ns,
                                        FrameStore& store);

  NatConfig config_;
  Sessions sessions_;
  Translator translator_;  // by NAT64's prefix
  std::uint64_t outbound_ = 0;
  std::uint64_t inbound_ = 0;
};

}  // namespace natxy::gateway
