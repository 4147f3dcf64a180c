#include "gateway/ethernet_port.hpp"

#include <rte_ethdev.h>
#include <rte_mempool.h>
#include <rte_pci.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "gateway/packet.hpp"
#include "plumbing/dpdk.hpp"

namespace natxy::gateway {
namespace {

constexpr std::uint16_t kRingFrames = 1024;
constexpr unsigned kPoolFrames = 8191;
constexpr unsigned kPoolCache = 256;
constexpr int kSendAttempts = 3;  // limited, so that a stalled port does not stall the gateway

std::string pool_name(std::uint16_t port_id) {
  static std::atomic<unsigned> made{0};
  return "natxy-gw-" + std::to_string(port_id) + "-" + std::to_string(made++);
}

}  // namespace

std::string name_of_device(const std::string& device) {
  return device.substr(0, device.find(','));
}

bool is_pci(const std::string& device) {
  rte_pci_addr address{};
  return rte_pci_addr_parse(name_of_device(device).c_str(), &address) == 0;
}

std::uint16_t port_of(Side side, const std::string& device) {
  const auto fail = [&](const std::string& sentence) {
    throw PortError("--" + std::string(name_of(side)) + ": " + sentence);
  };
  if (!is_pci(device) && plumbing::probe(device) != 0) {
    fail("DPDK cannot create \"" + device +
         "\" (expected a PCI address, or a virtual device such as net_af_packet0,iface=d0)");
  }
  std::uint16_t port_id = 0;
  if (rte_eth_dev_get_port_by_name(name_of_device(device).c_str(), &port_id) != 0) {
    fail("\"" + device + "\" has no port (expected a device that DPDK has a driver for)");
  }
  return port_id;
}

std::string driver_of(std::uint16_t port_id) {
  rte_eth_dev_info info{};
  if (rte_eth_dev_info_get(port_id, &info) != 0 || info.driver_name == nullptr) return "";
  return info.driver_name;
}

EthernetPort::EthernetPort(Side side, std::uint16_t port_id, std::size_t mtu_bytes)
    : side_(side), port_id_(port_id), gathered_(FrameStore::kMaxOctets) {
  make_pool(mtu_bytes);
  configure(mtu_bytes);
  check(rte_eth_dev_start(port_id_), "be started");
  rte_eth_promiscuous_enable(port_id_);  // ports that refuse this are promiscuous anyway
  read_mac();
  unmaps_rings_ = driver_of(port_id_) == "net_memif";
}

bool EthernetPort::waits_for_peer() const {
  rte_eth_link link{};
  return unmaps_rings_ && rte_eth_link_get_nowait(port_id_, &link) == 0 &&
         link.link_status == RTE_ETH_LINK_DOWN;
}

// Stops the port. Does not free the pool while the other end of a net_ring still holds buffers.
EthernetPort::~EthernetPort() {
  rte_eth_dev_stop(port_id_);
  if (rte_mempool_full(pool_) == 1) rte_mempool_free(pool_);
}

void EthernetPort::check(int status, const char* what) const {
  if (status >= 0) return;
  std::array<char, RTE_ETH_NAME_MAX_LEN> name{};
  rte_eth_dev_get_name_by_port(port_id_, name.data());
  throw PortError("the " + std::string(name_of(side_)) + " port (" + name.data() + ") cannot " +
                  what + ": " + rte_strerror(-status));
}

void EthernetPort::make_pool(std::size_t mtu_bytes) {
  constexpr std::size_t kTagsAndFcs = 12;
  const auto room = RTE_PKTMBUF_HEADROOM + std::max(mtu_bytes + kEthernetOctets + kTagsAndFcs,
                                                    std::size_t{RTE_MBUF_DEFAULT_DATAROOM});
  const auto name = pool_name(port_id_);
  const int node = rte_eth_dev_socket_id(port_id_);
  pool_ = driver_of(port_id_) == "net_af_xdp"
              ? plumbing::create_umem_pool({.name = name,
                                            .frames = kPoolFrames,
                                            .cache_frames = kPoolCache,
                                            .numa_node = node})
              : rte_pktmbuf_pool_create(name.c_str(), kPoolFrames, kPoolCache, 0,
                                        static_cast<std::uint16_t>(room), node);
  if (pool_ == nullptr) check(-rte_errno, "get its buffers");
  if (rte_pktmbuf_data_room_size(pool_) < room) {
    throw PortError("the " + std::string(name_of(side_)) +
                    " port's buffers are one page of memory each, too short for --mtu " +
                    std::to_string(mtu_bytes) + " (expected a smaller --mtu)");
  }
}

void EthernetPort::configure(std::size_t mtu_bytes) {
  rte_eth_dev_info info{};
  check(rte_eth_dev_info_get(port_id_, &info), "be described");
  rte_eth_conf conf{};
  const bool is_small = info.max_mtu == 0 || mtu_bytes <= info.max_mtu;
  if (!is_small) {
    throw PortError("--mtu: " + std::to_string(mtu_bytes) + " is too large for the " +
                    std::string(name_of(side_)) + " port (expected at most " +
                    std::to_string(info.max_mtu) + ")");
  }
  // Some virtual devices (net_memif) report a small maximum frame size and refuse a larger MTU,
  // although they carry whatever their buffers hold.
  const auto frame_bytes = mtu_bytes + RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
  if (frame_bytes <= info.max_rx_pktlen) conf.rxmode.mtu = static_cast<std::uint32_t>(mtu_bytes);
  check(rte_eth_dev_configure(port_id_, 1, 1, &conf), "be configured");
  auto rx_frames = kRingFrames;
  auto tx_frames = kRingFrames;
  check(rte_eth_dev_adjust_nb_rx_tx_desc(port_id_, &rx_frames, &tx_frames), "have such rings");
  const auto socket = static_cast<unsigned>(rte_eth_dev_socket_id(port_id_));
  check(rte_eth_rx_queue_setup(port_id_, 0, rx_frames, socket, nullptr, pool_),
        "have a queue to receive");
  check(rte_eth_tx_queue_setup(port_id_, 0, tx_frames, socket, nullptr), "have a queue to send");
}

// Reads the MAC address; net_ring has none, and gets a locally administered one.
void EthernetPort::read_mac() {
  rte_ether_addr address{};
  check(rte_eth_macaddr_get(port_id_, &address), "name its MAC address");
  std::copy_n(address.addr_bytes, mac_.size(), mac_.begin());
  if (mac_ != Mac{}) return;
  mac_ = {0x02, 0x4e, 0x58, 0x00, 0x00, static_cast<std::uint8_t>(port_id_ + 1)};
}

void EthernetPort::set_tags(const VlanTags& tags) {
  tags_ = tags;
  astray_tags_ = tags;
  if (!tags.empty()) astray_tags_.back().id ^= 1U;
}

std::uint16_t EthernetPort::receive_burst(std::array<rte_mbuf*, kBurst>& buffers) {
  return rte_eth_rx_burst(port_id_, 0, buffers.data(), kBurst);
}

Octets EthernetPort::contents(const rte_mbuf* buffer) {
  const auto length = rte_pktmbuf_pkt_len(buffer);
  if (length > gathered_.size()) return {};
  const auto* octets = rte_pktmbuf_read(buffer, 0, length, gathered_.data());
  return {static_cast<const std::uint8_t*>(octets), length};
}

void EthernetPort::free_burst(std::span<rte_mbuf*> buffers) {
  rte_pktmbuf_free_bulk(buffers.data(), static_cast<unsigned>(buffers.size()));
}

void EthernetPort::fill(rte_mbuf* buffer, const Frame& frame) const {
  auto* to = rte_pktmbuf_mtod(buffer, std::uint8_t*);
  const auto written = write_with_tags(to, frame.view(), frame.is_astray ? astray_tags_ : tags_);
  const auto length = std::max(written, kShortestFrameOctets);
  std::fill(to + written, to + length, std::uint8_t{0});
  buffer->data_len = static_cast<std::uint16_t>(length);
  buffer->pkt_len = static_cast<std::uint32_t>(length);
}

std::size_t EthernetPort::send(std::span<const FramePtr> frames) {
  std::array<rte_mbuf*, kBurst> buffers;
  const auto count = static_cast<std::uint16_t>(frames.size());
  if (rte_pktmbuf_alloc_bulk(pool_, buffers.data(), count) != 0) return 0;
  for (std::uint16_t i = 0; i < count; ++i) fill(buffers[i], *frames[i]);
  std::uint16_t taken = 0;
  for (int attempt = 0; attempt < kSendAttempts && taken < count; ++attempt) {
    const auto rest = static_cast<std::uint16_t>(count - taken);
    taken = static_cast<std::uint16_t>(taken +
                                       rte_eth_tx_burst(port_id_, 0, buffers.data() + taken, rest));
  }
  if (taken < count) free_burst({buffers.data() + taken, static_cast<std::size_t>(count - taken)});
  return taken;
}

}  // namespace natxy::gateway
