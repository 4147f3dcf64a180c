// One DPDK port with one receive queue and one transmit queue. Received buffers are only read and
// freed; frames are sent in buffers of the port's own pool.
#pragma once

#include <rte_mbuf.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "gateway/address.hpp"
#include "gateway/frame.hpp"
#include "gateway/octets.hpp"

namespace natxy::gateway {

struct PortError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Returns the name of a device: a PCI address, or a driver and a number. Arguments follow a comma.
[[nodiscard]] std::string name_of_device(const std::string& device);
// Returns whether a device is on PCI, and so was probed when DPDK started.
[[nodiscard]] bool is_pci(const std::string& device);
// Returns the port of a device; creates a virtual device. Throws PortError.
[[nodiscard]] std::uint16_t port_of(Side side, const std::string& device);
[[nodiscard]] std::string driver_of(std::uint16_t port_id);

class EthernetPort {
 public:
  static constexpr std::uint16_t kBurst = 32;

  // Configures and starts the port. The destructor stops it but does not close it.
  EthernetPort(Side side, std::uint16_t port_id, std::size_t mtu_bytes);
  ~EthernetPort();
  EthernetPort(const EthernetPort&) = delete;
  EthernetPort& operator=(const EthernetPort&) = delete;

  [[nodiscard]] const Mac& mac() const { return mac_; }
  // Returns whether the driver unmaps the port's rings when the peer ends (see
  // plumbing/dpdk.hpp).
  [[nodiscard]] bool unmaps_rings() const { return unmaps_rings_; }
  // Returns whether such a port has no peer.
  [[nodiscard]] bool waits_for_peer() const;
  // Sets the tags of all frames of the port.
  void set_tags(const VlanTags& tags);

  // Calls `take(Octets)` for each frame of at most one burst, without its tags. Frames of other
  // VLANs are dropped.
  template <typename Take>
  void receive(Take take) {
    std::array<rte_mbuf*, kBurst> buffers;
    const auto count = receive_burst(buffers);
    for (std::uint16_t i = 0; i < count; ++i) {
      if (const auto frame = without_tags(contents(buffers[i]), tags_, untagged_)) take(*frame);
    }
    if (count != 0) free_burst({buffers.data(), count});
  }

  // Sends copies of at most kBurst frames, tagged and padded to Ethernet's minimum length. Returns
  // how many of them, from the first on, the port accepted.
  [[nodiscard]] std::size_t send(std::span<const FramePtr> frames);

 private:
  void configure(std::size_t mtu_bytes);
  void make_pool(std::size_t mtu_bytes);
  void read_mac();
  void check(int status, const char* what) const;
  [[nodiscard]] std::uint16_t receive_burst(std::array<rte_mbuf*, kBurst>& buffers);
  [[nodiscard]] Octets contents(const rte_mbuf* buffer);
  void fill(rte_mbuf* buffer, const Frame& frame) const;
  static void free_burst(std::span<rte_mbuf*> buffers);

  Side side_;
  std::uint16_t port_id_;
  rte_mempool* pool_ = nullptr;
  bool unmaps_rings_ = false;
  Mac mac_{};
  VlanTags tags_;
  VlanTags astray_tags_;                // those of another VLAN, for the fault `vlan`
  std::vector<std::uint8_t> untagged_;  // the last frame that had tags
  std::vector<std::uint8_t> gathered_;  // a frame that arrived in several segments
};

}  // namespace natxy::gateway
