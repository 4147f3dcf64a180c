// The neighbours of one side: which MAC address an IP address has, and the frames that wait for
// the answer to that.
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

  // Requests and answers go to `out`.
  Neighbours(const SideConfig& config, const Mac& own_mac, FrameStore& store,
             std::vector<FramePtr>& out);

  [[nodiscard]] const Mac& own_mac() const { return own_mac_; }
  [[nodiscard]] bool is_own(const IpAddress& address) const;
  // Null: not known.
  [[nodiscard]] const Mac* find(const IpAddress& address) const;

  // Keeps the frame until the neighbour has answered; gives it back where it cannot.
  [[nodiscard]] FramePtr wait_for(const IpAddress& neighbour, FramePtr frame, Nanoseconds now_ns);
  // Answers and learns. The frames that waited for what was learned are ready then.
  [[nodiscard]] std::vector<FramePtr> hear(const NeighbourMessage& message);
  // Asks again; gives back the frames of which the neighbour did not answer in time.
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
