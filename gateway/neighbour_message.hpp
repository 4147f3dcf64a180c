// ARP (RFC 826) and Neighbour Discovery (RFC 4861) messages, read and made.
#pragma once

#include <optional>

#include "gateway/address.hpp"
#include "gateway/frame_store.hpp"
#include "gateway/octets.hpp"

namespace natxy::gateway {

inline constexpr Mac kBroadcast{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

// What a message of either protocol says.
struct NeighbourMessage {
  bool is_request = false;
  IpAddress sender;               // unspecified in a probe: nobody has the address yet
  std::optional<Mac> sender_mac;  // absent: not said
  Mac frame_source{};             // where an answer goes to if it was not said
  IpAddress target;               // whom a request asks for, or whom an answer is of

  [[nodiscard]] bool is_probe() const { return sender.value == 0; }
};

// Absent: no such message, or one that its RFC has ignored.
[[nodiscard]] std::optional<NeighbourMessage> parse_arp(Octets frame);
[[nodiscard]] std::optional<NeighbourMessage> parse_discovery(Octets frame);

struct Speaker {
  Mac mac;
  IpAddress address;
};

// Asks who has the target, in the protocol of the target's family.
[[nodiscard]] FramePtr make_request(FrameStore& store, const Speaker& speaker,
                                    const IpAddress& target);
// Says that the speaker has the address that the request asked for.
[[nodiscard]] FramePtr make_answer(FrameStore& store, const Speaker& speaker,
                                   const NeighbourMessage& request);

// fe80::/64 with the interface identifier that RFC 4291, appendix A makes of the MAC address.
[[nodiscard]] IpAddress link_local_of(const Mac& mac);

}  // namespace natxy::gateway
