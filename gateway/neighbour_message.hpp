// Reads and makes the messages of ARP (RFC 826) and Neighbour Discovery (RFC 4861).
#pragma once

#include <optional>

#include "gateway/address.hpp"
#include "gateway/frame_store.hpp"
#include "gateway/octets.hpp"

namespace natxy::gateway {

inline constexpr Mac kBroadcast{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

// The contents of a message of either protocol.
struct NeighbourMessage {
  bool is_request = false;
  IpAddress sender;               // unspecified in a probe for a duplicate address
  std::optional<Mac> sender_mac;  // absent if the message does not contain it
  Mac frame_source{};             // where an answer goes if sender_mac is absent
  IpAddress target;               // the address that a request asks for, or an answer is about

  [[nodiscard]] bool is_probe() const { return sender.value == 0; }
};

// Parse a message; absent if the frame is none, or if the RFC requires that it is ignored.
[[nodiscard]] std::optional<NeighbourMessage> parse_arp(Octets frame);
[[nodiscard]] std::optional<NeighbourMessage> parse_discovery(Octets frame);

struct Speaker {
  Mac mac;
  IpAddress address;
};

// Makes a request for the target, in the protocol of its IP version.
[[nodiscard]] FramePtr make_request(FrameStore& store, const Speaker& speaker,
                                    const IpAddress& target);
// Makes the answer to a request for the speaker's address.
[[nodiscard]] FramePtr make_answer(FrameStore& store, const Speaker& speaker,
                                   const NeighbourMessage& request);

// Returns the link-local address: fe80::/64 with the interface identifier of the MAC address (RFC
// 4291, appendix A).
[[nodiscard]] IpAddress link_local_of(const Mac& mac);

}  // namespace natxy::gateway
