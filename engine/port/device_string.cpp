#include "port/device_string.hpp"

#include <linux/if_packet.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "spec/event.hpp"

namespace natxy::port {
namespace {

bool all_hexadecimal(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

// Returns whether this is a PCI address: [domain:]bus:device.function.
bool is_pci(std::string_view name) {
  if (name.size() < 7) return false;
  const auto tail = name.substr(name.size() - 7);
  if (tail[2] != ':' || tail[5] != '.' || tail[6] < '0' || tail[6] > '7') return false;
  if (!all_hexadecimal(tail.substr(0, 2)) || !all_hexadecimal(tail.substr(3, 2))) return false;
  const auto domain = name.substr(0, name.size() - 7);
  return domain.empty() || (domain.size() >= 5 && domain.size() <= 9 && domain.back() == ':' &&
                            all_hexadecimal(domain.substr(0, domain.size() - 1)));
}

// Returns a PCI address as DPDK writes it: 0000:01:00.0, with at least four digits of the domain.
std::string pci_name(const std::string& name) {
  const auto tail = name.substr(name.size() - 7);
  auto domain = name.substr(0, name.size() - tail.size());
  domain.erase(0, std::min(domain.find_first_not_of('0'), domain.size()));
  if (domain.empty()) domain = ":";
  auto address = std::string(domain.size() < 5 ? 5 - domain.size() : 0, '0') + domain + tail;
  std::ranges::transform(address, address.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return address;
}

// Returns the driver of a virtual device: net_af_xdp for net_af_xdp0, and for eth_af_xdp0, an older
// name. Empty if the name is not that of a virtual device.
std::string driver_of(std::string_view name) {
  const auto end = name.find_last_not_of("0123456789");
  const auto driver = name.substr(0, end == std::string_view::npos ? 0 : end + 1);
  const bool prefixed = driver.starts_with("net_") || driver.starts_with("eth_");
  const bool plain = driver.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == driver.npos;
  if (!prefixed || !plain || driver.size() <= 4) return {};
  return "net_" + std::string(driver.substr(4));
}

[[noreturn]] void refuse_device(const std::string& text) {
  throw spec::TrialError(spec::ErrorKind::kDevice,
                         "the device \"" + text +
                             "\" is unknown (expected a PCI address such as 0000:01:00.0, a "
                             "virtual device such as net_af_xdp0,iface=eth1, or ring)");
}

}  // namespace

std::optional<std::string> DeviceString::argument(const std::string& key) const {
  const auto entry = arguments.find(key);
  if (entry == arguments.end()) return std::nullopt;
  return entry->second;
}

unsigned long DeviceString::number(const std::string& key, unsigned long otherwise) const {
  const auto value = argument(key);
  if (!value || value->empty()) return otherwise;
  char* end = nullptr;
  const auto number = std::strtoul(value->c_str(), &end, 0);
  return *end == '\0' ? number : otherwise;  // the driver itself refuses a wrong number
}

std::string DeviceString::interface() const {
  if (driver != "net_af_xdp" && driver != "net_af_packet" && driver != "net_tap" &&
      driver != "net_pcap") {
    return {};
  }
  return argument("iface").value_or("");
}

bool DeviceString::memif_client() const {
  return driver == "net_memif" && argument("role").value_or("client") != "server";
}

DeviceString parse_device(const std::string& text) {
  std::istringstream stream(text);
  DeviceString device;
  device.text = text;
  std::getline(stream, device.name, ',');
  device.pci = is_pci(device.name);
  if (device.pci) device.name = pci_name(device.name);
  device.driver = device.pci ? "" : driver_of(device.name);
  if (device.ring()) device.driver = "net_ring";
  if (!device.pci && device.driver.empty()) refuse_device(text);
  for (std::string part; std::getline(stream, part, ',');) {
    const auto equals = part.find('=');
    const auto value = equals == std::string::npos ? "" : part.substr(equals + 1);
    device.arguments[part.substr(0, equals)] = value;
  }
  return device;
}

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
