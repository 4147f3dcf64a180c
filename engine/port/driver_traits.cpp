#include "port/driver_traits.hpp"

#include <linux/if_packet.h>

#include <algorithm>
#include <bit>

namespace natxy::port {
namespace {

constexpr unsigned long kAfPacketFrameCount = 512;  // the driver's defaults
constexpr unsigned long kAfPacketFrameBytes = 2048;
constexpr unsigned long kMemifLog2RingSize = 10;
constexpr unsigned kSmallestRoom = 2048;
constexpr unsigned kReserve = 64;                // a cache line
constexpr std::uint32_t kUnbounded = 1U << 30U;  // net_null and net_pcap make frames when polled

DriverTraits of_nic() {
  return {.tx_queues = 0,
          .rx_queues = 0,
          .distributes = true,
          .sets_mtu = true,
          .has_link_speed = true};
}

DriverTraits of_gateways_ring(std::uint32_t frames) {
  return {.refusal = spec::Refusal::kGateway, .rx_ring_frames = frames};
}

// A memif does not show the number of queues that was negotiated, and frames that are sent to a
// queue that the peer does not have arrive in the first one. So one queue is used, which both sides
// always have.
DriverTraits of_memif(const DeviceString& device) {
  const auto log2 = std::min(device.number("rsize", kMemifLog2RingSize), 14UL);
  auto traits = of_gateways_ring(1U << log2);
  traits.must_reconnect = device.memif_client();
  traits.unmaps_rings = true;
  return traits;
}

std::string frame_argument(const DeviceString& device, unsigned long needed) {
  return device.name + " has frames of " +
         std::to_string(device.number("framesz", kAfPacketFrameBytes)) +
         " octets, too few for the MTU (expected framesz=" + std::to_string(needed) + ")";
}

// Checks that the ring's frames are long enough. The kernel puts its header, the sender's address
// and 16 reserved octets before the frame.
void check_af_packet_frames(const DeviceString& device, std::uint16_t mtu_bytes) {
  const auto needed = TPACKET_ALIGN(TPACKET2_HDRLEN + 16UL) + mtu_bytes;
  if (device.number("framesz", kAfPacketFrameBytes) >= needed) return;
  unsigned long right = kAfPacketFrameBytes;
  while (right < needed) right *= 2;
  throw spec::TrialError(spec::ErrorKind::kDevice, frame_argument(device, right));
}

void check_one_queue(const DeviceString& device, const std::string& key) {
  const auto value = device.argument(key).value_or("1");
  if (value == "1") return;
  throw spec::TrialError(spec::ErrorKind::kDevice,
                         device.name + " has " + key + "=" + value +
                             ", but the tester uses one queue of such a device (expected " + key +
                             "=1)");
}

}  // namespace

DriverTraits traits_of(const DeviceString& device) {
  const auto& driver = device.driver;
  if (device.pci) return of_nic();
  if (driver == "net_ring") {
    return {
        .refusal = spec::Refusal::kGateway, .rx_ring_frames = 1023, .tx_queues = 0, .rx_queues = 0};
  }
  if (driver == "net_memif") return of_memif(device);
  if (driver == "net_vhost" || driver == "net_virtio_user") return of_gateways_ring(256);
  if (driver == "net_af_xdp") {  // the ring has as many frames as the queue has descriptors
    return {.rx_descriptors = 2048, .tx_descriptors = 2048, .rx_pool_is_umem = true};
  }
  if (driver == "net_af_packet") {
    return {.rx_ring_frames =
                static_cast<std::uint32_t>(device.number("framecnt", kAfPacketFrameCount))};
  }
  if (driver == "net_tap")
    return {.rx_ring_frames = 500, .sets_mtu = true};  // the tun's queue size
  if (driver == "net_null") return {.rx_ring_frames = kUnbounded, .tx_queues = 0};
  if (driver == "net_pcap") {  // the kernel time-stamps the frames of an interface
    return {.rx_ring_frames = kUnbounded, .stamps = Stamps::kRealtime_us};
  }
  return {};
}

std::uint16_t frame_room_bytes(const DeviceString& device, const std::string& driver,
                               std::uint16_t mtu_bytes) {
  const auto needed = std::max(kSmallestRoom, kReserve + mtu_bytes + kEthernetOverhead);
  const auto step = device.pci ? 1024U : 64U;
  const auto room =
      driver == "net_e1000_em" ? std::bit_ceil(needed) : (needed + step - 1) / step * step;
  return static_cast<std::uint16_t>(room);
}

void check_arguments(const DeviceString& device, std::uint16_t mtu_bytes) {
  if (device.driver == "net_af_packet") {
    check_one_queue(device, "qpairs");
    check_af_packet_frames(device, mtu_bytes);
  }
  if (device.driver == "net_af_xdp") check_one_queue(device, "queue_count");
  if (device.driver == "net_vhost" || device.driver == "net_virtio_user") {
    check_one_queue(device, "queues");
  }
}

}  // namespace natxy::port
