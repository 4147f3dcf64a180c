// The name of a port as the user writes it (a PCI address, a virtual device with its arguments, or
// `ring`), and the properties of its driver that a measurement depends on and that DPDK does not
// report.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "spec/event.hpp"

namespace natxy::port {

struct DeviceString {
  std::string text;    // the whole text
  std::string name;    // net_af_xdp0; 0000:01:00.0; ring
  std::string driver;  // net_af_xdp; empty for a PCI device
  std::map<std::string, std::string> arguments;
  bool pci = false;

  [[nodiscard]] bool ring() const { return name == "ring"; }
  [[nodiscard]] bool memif_client() const;
  [[nodiscard]] std::optional<std::string> argument(const std::string& key) const;
  [[nodiscard]] unsigned long number(const std::string& key, unsigned long otherwise) const;
  // Returns the kernel's network interface behind the port; empty if there is none.
  [[nodiscard]] std::string interface() const;
};

// Parses the name of a port. Throws TrialError (device).
[[nodiscard]] DeviceString parse_device(const std::string& text);

inline constexpr std::uint16_t kEthernetOverhead = 18;  // header and FCS

// The clock with which a driver time-stamps arrivals.
enum class Stamps : std::uint8_t {
  kOffload,     // the device's own, if it offers time stamps
  kRealtime_us  // CLOCK_REALTIME, always
};

struct DriverTraits {
  spec::Refusal refusal = spec::Refusal::kTester;
  // Frames that can wait for a poll before one is lost; 0: as many as the queue has descriptors.
  std::uint32_t rx_ring_frames = 0;
  std::uint16_t rx_descriptors = 1024;
  std::uint16_t tx_descriptors = 1024;
  bool rx_pool_is_umem = false;  // AF_XDP; see plumbing/dpdk.hpp
  std::uint16_t tx_queues = 1;   // 0: as many as the device reports
  std::uint16_t rx_queues = 1;   // the same
  bool distributes = false;      // among its receive queues, by a hash of addresses and ports (RSS)
  bool must_reconnect = false;   // after a loss of the link, the device must be started again
  bool unmaps_rings = false;     // when the peer ends; see plumbing/dpdk.hpp
  bool sets_mtu = false;         // the engine sets the MTU; else its interface has one
  bool has_link_speed = false;
  Stamps stamps = Stamps::kOffload;
};

[[nodiscard]] DriverTraits traits_of(const DeviceString& device);

// Returns the room that a buffer has for a frame of this MTU and for what the driver adds to it.
// Drivers of NICs round it down, to 1 KB (net_ixgbe, net_e1000_igb, net_i40e) or to a power of two
// (net_e1000_em). Longer frames come in several buffers then, or not at all. driver: DPDK's name.
[[nodiscard]] std::uint16_t frame_room_bytes(const DeviceString& device, const std::string& driver,
                                             std::uint16_t mtu_bytes);

// Checks the arguments of a device. Throws TrialError (device) for arguments that make frames
// arrive on queues that are not polled, or that truncate frames.
void check_arguments(const DeviceString& device, std::uint16_t mtu_bytes);

}  // namespace natxy::port
