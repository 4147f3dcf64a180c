// What DPDK does not tell about its drivers and a measurement must know.
#pragma once

#include <cstdint>
#include <string>

#include "port/device_string.hpp"
#include "spec/event.hpp"

namespace natxy::port {

// By which clock a driver stamps what arrives.
enum class Stamps : std::uint8_t {
  kOffload,     // of the device, where it offers to
  kRealtime_us  // always, by CLOCK_REALTIME
};

struct DriverTraits {
  spec::Refusal refusal = spec::Refusal::kTester;
  // Frames that wait for a poll before any is lost; 0: as many as the queue has descriptors.
  std::uint32_t rx_ring_frames = 0;
  std::uint16_t rx_descriptors = 1024;
  std::uint16_t tx_descriptors = 1024;
  std::uint32_t rx_pool_frames = 8191;
  bool rx_pool_is_umem = false;  // of AF_XDP: see umem_pool.hpp
  std::uint16_t tx_queues = 1;   // 0: as many as the device says
  bool must_reconnect = false;   // whose link, once lost, comes back with another start only
  bool sets_mtu = false;         // the device takes its MTU from us; else from its interface
  bool has_link_speed = false;
  Stamps stamps = Stamps::kOffload;
};

[[nodiscard]] DriverTraits traits_of(const DeviceString& device);

// Arguments that would have frames arrive on queues that nobody polls, or cut frames short; throws
// TrialError (device).
void check_arguments(const DeviceString& device, std::uint16_t mtu_bytes);

}  // namespace natxy::port
