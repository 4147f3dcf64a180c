// The neighbours of one side: their MAC addresses, and the frames that wait for address resolution.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "gateway/address.hpp"
#include "gateway/config.hpp"
#include "gateway/frame_store.hpp"
#include "gateway/neighbour_message.hpp"

namespace natxy::gateway {

class Neighbours {
 public:
  static constexpr std::size_t kMaxWaitingFrames = 64;  // for one neighbour
  static constexpr std::size_t kMaxAsked = 4096;        // neighbours asked for at a time
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
  [[nodiscard]] bool is_waiting() const { return !asked_.empty(); }
  void forget_waiting() { asked_.clear(); }

 private:
  struct Asked {
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
  std::unordered_map<IpAddress, Asked, IpAddressHash> asked_;
  FrameStore& store_;
  std::vector<FramePtr>& out_;
};

}  // namespace natxy::gateway
