// Stateful translation of UDP and TCP: NAT44 (IPv4 to IPv4) or NAT64 (IPv6 to IPv4).
#pragma once

#include <cstdint>
#include <optional>

#include "gateway/frame.hpp"
#include "gateway/nat/nat_config.hpp"
#include "gateway/nat/sessions.hpp"
#include "gateway/octets.hpp"
#include "gateway/packet.hpp"
#include "gateway/translator.hpp"

namespace natxy::gateway {

struct PortPair {
  std::uint16_t source = 0;
  std::uint16_t destination = 0;
};

// upper: from the header of UDP or TCP on.
[[nodiscard]] PortPair read_ports(Octets upper);

// Rewrites the addresses and ports of a UDP or TCP packet, decrements its hop limit and updates its
// checksums. Returns a frame with EtherType and packet, without MAC addresses.
[[nodiscard]] FramePtr rewrite(const Ipv4Packet& packet, const AddressPair& addresses,
                               const PortPair& ports, FrameStore& store);
// Rewrites the ports of a frame that the gateway has made: IPv4 without options, or IPv6 without
// extension headers.
void rewrite_ports(Frame& frame, const PortPair& ports);

struct NatTranslated {
  Outcome outcome;
  // Where the frame goes; undefined if the packet was dropped. An IPv6 address of an IPv4 packet is
  // the far end of a softwire.
  IpAddress destination;
};

class Nat {
 public:
  explicit Nat(const NatConfig& config);

  // Return whether the packet is to be translated: from inside, if it goes outside (NAT64: if its
  // destination has the prefix); from outside, if it goes to an address of the pool.
  [[nodiscard]] bool takes(Side from, const Ipv4Packet& packet) const;
  [[nodiscard]] bool takes(Side from, const Ipv6Packet& packet) const;
  [[nodiscard]] bool is_external(Side from, const IpAddress& address) const;

  // Return the remote address of a packet from inside; absent for a packet from outside, whose
  // destination depends on its connection.
  [[nodiscard]] std::optional<IpAddress> remote_of(Side from, const Ipv4Packet& packet) const;
  [[nodiscard]] std::optional<IpAddress> remote_of(Side from, const Ipv6Packet& packet) const;

  // Translate a packet for which takes() is true and whose hop limit is above 1.
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
  Translator translator_;  // uses the prefix of NAT64
  std::uint64_t outbound_ = 0;
  std::uint64_t inbound_ = 0;
};

}  // namespace natxy::gateway
