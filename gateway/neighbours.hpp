// The neighbours of one side: their MAC addresses, and the frames that wait for address resolution.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "gateway/address.hpp"
#include "gateway/config.hpp"
#include "gateway/frame.hpp"
#include "gateway/octets.hpp"

namespace natxy::gateway {

// Reads and makes the messages of ARP (RFC 826) and Neighbour Discovery (RFC 4861).
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

class Neighbours {
 public:
  static constexpr std::size_t kMaxWaitingFrames = 64;  // for one neighbour
  static constexpr std::size_t kMaxUnresolved = 4096;   // neighbours asked for at a time
  static constexpr Nanoseconds kAskAgain_ns = 200'000'000;
  static constexpr Nanoseconds kGiveUp_ns = 1'000'000'000;

  // out: where requests and answers are put.
  Neighbours(const SideConfig& config, const Mac& own_mac, FrameStore& store,
             std::vector<FramePtr>& out);

  [[nodiscard]] const Mac& own_mac() const { return own_mac_; }
  [[nodiscard]] bool is_own(const IpAddress& address) const;
  // Returns the MAC address of a neighbour; null if it is unknown.
  [[nodiscard]] const Mac* find(const IpAddress& address) const;

  // Keeps the frame until the neighbour has answered. Returns the frame if there is no room for it.
  [[nodiscard]] FramePtr wait_for(const IpAddress& neighbour, FramePtr frame, Nanoseconds now_ns);
  // Handles a message: answers and learns. Returns the frames that waited for what was learned.
  [[nodiscard]] std::vector<FramePtr> hear(const NeighbourMessage& message);
  // Repeats requests. Returns the frames whose neighbour did not answer in time.
  [[nodiscard]] std::vector<FramePtr> tick(Nanoseconds now_ns);
  [[nodiscard]] bool is_waiting() const { return !unresolved_.empty(); }
  void forget_waiting() { unresolved_.clear(); }

 private:
  struct Unresolved {
    Nanoseconds since_ns;
    Nanoseconds last_ns;
    std::vector<FramePtr> frames;
  };

  void ask(const IpAddress& neighbour);
  [[nodiscard]] bool is_of_interest(const NeighbourMessage& message) const;
  [[nodiscard]] IpAddress source_for(const IpAddress& neighbour) const;

  Mac own_mac_;
  std::vector<IpAddress> addresses_;
  std::unordered_map<IpAddress, Mac, IpAddressHash> given_;
  std::unordered_map<IpAddress, Mac, IpAddressHash> learned_;
  std::unordered_map<IpAddress, Unresolved, IpAddressHash> unresolved_;
  FrameStore& store_;
  std::vector<FramePtr>& out_;
};

}  // namespace natxy::gateway
