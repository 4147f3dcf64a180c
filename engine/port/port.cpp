#include "port/port.hpp"

#include <rte_ether.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

namespace natxy::port {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Of mlx5: frames that the NIC dropped before its queues. No other counter has them.
constexpr const char* kDiscards = "rx_phy_discard_packets";
constexpr unsigned kAnswers = 1023;
constexpr unsigned kDeferred = 256;
constexpr unsigned kRxPoolFrames = 8191;
constexpr unsigned kMostCaches = 16;  // of a umem
constexpr unsigned kInCaches = 512;   // frames that one core's cache of a pool may hold
// How long to try again: the XDP program of a tester that was killed may stay for about a second,
// and a memif's server may be starting.
constexpr milliseconds kPatience{2000};

std::string side_name(spec::Side side) {
  return side == spec::Side::kLeft ? "left" : "right";
}

[[noreturn]] void refuse(const PortOptions& options, const std::string& sentence,
                         spec::ErrorKind kind = spec::ErrorKind::kDevice) {
  throw spec::TrialError(kind, side_name(options.side) + ": " + sentence);
}

void check_interface(const PortOptions& options) {
  const auto name = options.device.interface();
  if (name.empty() || options.device.driver == "net_tap") return;  // net_tap makes its interface
  const auto mtu = interface_mtu_bytes(name);
  if (!mtu) {
    refuse(options, "there is no network interface " + name +
                        " in this network namespace (expected the name of one)");
  }
  if (*mtu < options.mtu_bytes) {
    const auto needed = std::to_string(options.mtu_bytes);
    refuse(options, "the interface " + name + " has an MTU of " + std::to_string(*mtu) +
                        " (expected at least " + needed + ": ip link set " + name + " mtu " +
                        needed + ")");
  }
}

// Returns how long to wait until another process lets the device start.
milliseconds patience_for(const DeviceString& device) {
  return device.driver == "net_af_xdp" || device.memif_client() ? kPatience : milliseconds(0);
}

std::string reason(const DeviceString& device, int status) {
  if (device.driver == "net_memif" && status == -1) {  // not an errno, but the driver's own number
    return "no server listens at " + device.argument("socket").value_or("its socket") +
           ": start the gateway first";
  }
  return rte_strerror(-status);
}

template <typename Open>
auto insist(milliseconds patience, Open open) {
  const auto end = steady_clock::now() + patience;
  for (;;) {
    try {
      return open();
    } catch (const spec::TrialError&) {
      if (steady_clock::now() >= end) throw;
    }
    std::this_thread::sleep_for(milliseconds(100));
  }
}

}  // namespace

std::uint64_t distributed_by(const DeviceString& device, std::uint64_t offered) {
  const auto by = (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP) & offered;
  if ((by & RTE_ETH_RSS_UDP) != 0) return by;
  throw spec::TrialError(spec::ErrorKind::kDevice,
                         "the device \"" + device.text + "\" does not distribute frames among " +
                             "receive queues" + (by != 0 ? " by the ports of UDP" : "") +
                             " (expected --rx-queues 1)");
}

unsigned tx_queue_limit(const std::string& driver, unsigned offered, unsigned rx_queues) {
  return driver == "net_virtio" && rx_queues == 1 ? std::min(offered, 1U) : offered;
}

std::uint32_t ring_frames(const rte_mempool* pool, std::uint32_t asked_for) {
  const auto filled = rte_mempool_in_use_count(pool);
  return filled == 0 ? asked_for : std::min(filled, asked_for);
}

std::unique_ptr<Port> Port::open(const PortOptions& options) {
  check_interface(options);
  try {
    check_arguments(options.device, options.mtu_bytes);
    return insist(patience_for(options.device), [&] {
      return std::make_unique<Port>(options, EthDevice::probe(options.device));
    });
  } catch (const spec::TrialError& error) {
    refuse(options, error.what(), error.kind());
  }
}

Port::Port(const PortOptions& options, EthDevice device)
    : options_(options),
      traits_(traits_of(options.device)),
      deferred_(make_ring(kDeferred, options.rx_queues == 1 ? Producers::kOne : Producers::kMany)),
      device_(std::move(device)) {
  rte_eth_dev_info info{};
  check(rte_eth_dev_info_get(id(), &info), "tell about itself");
  driver_ = info.driver_name == nullptr ? options_.device.driver : info.driver_name;
  const auto limit = traits_.tx_queues != 0
                         ? traits_.tx_queues
                         : tx_queue_limit(driver_, info.max_tx_queues, options_.rx_queues);
  const auto queues = tx_queues_to_use(limit);
  // A port's clock has one user; and some drivers are slower if they stamp.
  stamps_ = options_.own_clock && options_.rx_queues == 1 &&
            (info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0;
  configure(queues, info);
  set_up_receiving();
  set_up_sending(queues);
  start();
}

void Port::check(int status, const char* what) const {
  if (status >= 0) return;
  throw spec::TrialError(spec::ErrorKind::kDriver, "the device \"" + options_.device.text +
                                                       "\" does not " + what + " (" +
                                                       reason(options_.device, status) + ")");
}

unsigned Port::tx_queues_to_use(unsigned limit) const {
  const auto wanted = options_.tx_queues.value_or(std::min(options_.workers, limit));
  if (wanted >= 1 && wanted <= limit) return wanted;
  throw spec::TrialError(
      spec::ErrorKind::kDevice,
      "the device \"" + options_.device.text + "\" does not have " + std::to_string(wanted) +
          " transmit queues (expected --tx-queues 1 to " + std::to_string(limit) + ")");
}

void Port::check_rx_queues(unsigned limit) const {
  if (options_.rx_queues >= 1 && options_.rx_queues <= limit) return;
  throw spec::TrialError(
      spec::ErrorKind::kDevice,
      "the device \"" + options_.device.text + "\" does not have " +
          std::to_string(options_.rx_queues) +
          " receive queues that the tester can use (expected " +
          (limit > 1 ? "--rx-queues 1 to " + std::to_string(limit) : "--rx-queues 1") + ")");
}

// Has the device distribute the frames among its receive queues by addresses and ports, so that the
// frames of a flow stay in one queue (RFC 4814's ports spread the flows).
void Port::distribute_frames(rte_eth_conf& configuration, const rte_eth_dev_info& info) const {
  if (options_.rx_queues == 1 || !traits_.distributes) return;
  configuration.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
  configuration.rx_adv_conf.rss_conf.rss_hf =
      distributed_by(options_.device, info.flow_type_rss_offloads);
}

void Port::configure(unsigned tx_queues, const rte_eth_dev_info& info) {
  rte_eth_conf configuration{};
  if (traits_.sets_mtu) configuration.rxmode.mtu = options_.mtu_bytes;
  if (stamps_) configuration.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
  distribute_frames(configuration, info);  // may refuse all numbers but 1, so it comes first
  check_rx_queues(traits_.rx_queues != 0 ? traits_.rx_queues : info.max_rx_queues);
  check(rte_eth_dev_configure(id(), static_cast<std::uint16_t>(options_.rx_queues),
                              static_cast<std::uint16_t>(tx_queues), &configuration),
        "take its configuration");
  rx_descriptors_ = traits_.rx_descriptors;
  tx_descriptors_ = traits_.tx_descriptors;
  check(rte_eth_dev_adjust_nb_rx_tx_desc(id(), &rx_descriptors_, &tx_descriptors_),
        "take its numbers of descriptors");
}

std::uint16_t Port::data_room_bytes() const {
  const auto room = frame_room_bytes(options_.device, driver_, options_.mtu_bytes);
  return static_cast<std::uint16_t>(RTE_PKTMBUF_HEADROOM + room);
}

void Port::set_up_receiving() {
  const PoolOptions pool{.name = "rx_" + side_name(options_.side),
                         .frames = rx_pool_frames(),
                         .data_room_bytes = data_room_bytes(),
                         .numa_node = rte_eth_dev_socket_id(id())};
  for (unsigned queue = 0; queue < options_.rx_queues; ++queue) {
    const auto index = static_cast<std::uint16_t>(queue);
    rx_pools_.emplace_back(traits_.rx_pool_is_umem ? create_umem_pool(pool) : create_pool(pool));
    check(rte_eth_rx_queue_setup(id(), index, rx_descriptors_,
                                 static_cast<unsigned>(rte_eth_dev_socket_id(id())), nullptr,
                                 rx_pools_.back().get()),
          "set up its receive queues");
    rx_queues_.emplace_back(id(), index, deferred_.get());
  }
  answers_.reset(create_pool({.name = "nd_" + side_name(options_.side), .frames = kAnswers}));
}

// Returns the size of a receive pool. The buffers of a umem are those of both rings, of the frames
// that wait to be taken from them and of the caches; each of them is a page that is touched when
// the port starts. Such a port has one queue in each direction, so few workers have a cache.
unsigned Port::rx_pool_frames() const {
  if (!traits_.rx_pool_is_umem) return kRxPoolFrames;
  const auto caches = std::min(options_.workers + 1, kMostCaches);
  return 2U * (rx_descriptors_ + tx_descriptors_) + caches * kInCaches;
}

// Returns the size of a transmit pool: enough for the queue, a ring behind it, and the caches of
// all cores that free frames.
unsigned Port::tx_pool_frames() const {
  const auto needed = 2U * tx_descriptors_ + (options_.workers + 1) * kInCaches;
  unsigned frames = 4095;
  while (frames < needed) frames = 2 * frames + 1;
  return frames;
}

void Port::set_up_sending(unsigned tx_queues) {
  const int node = rte_eth_dev_socket_id(id());
  for (unsigned queue = 0; queue < tx_queues; ++queue) {
    const auto index = static_cast<std::uint16_t>(queue);
    check(
        rte_eth_tx_queue_setup(id(), index, tx_descriptors_, static_cast<unsigned>(node), nullptr),
        "set up its transmit queues");
    tx_queues_.emplace_back(
        TxQueueOptions{.port = id(),
                       .queue = index,
                       .refusal_is_gateways = traits_.refusal == spec::Refusal::kGateway,
                       .pool = {.name = "tx_" + side_name(options_.side),
                                .frames = tx_pool_frames(),
                                .data_room_bytes = data_room_bytes(),
                                .numa_node = node}});
  }
}

void Port::start() {
  check(rte_eth_dev_start(id()), "start");
  started_ = true;
  rx_ring_frames_ = traits_.rx_ring_frames != 0 ? traits_.rx_ring_frames : smallest_ring_frames();
  if (stamps_) rte_eth_timesync_enable(id());  // without it, some drivers have no readable clock
  // Neighbour Solicitations are multicast. Not every device can be promiscuous.
  if (rte_eth_promiscuous_enable(id()) != 0) rte_eth_allmulticast_enable(id());
  flow_control_ = !device_.end_flow_control();
  mac_ = read_mac();
  last_interface_ = interface_counters(options_.device.interface()).value_or(InterfaceCounters{});
  rte_eth_stats_reset(id());
}

std::uint32_t Port::smallest_ring_frames() const {
  std::uint32_t smallest = rx_descriptors_;
  for (const auto& pool : rx_pools_) smallest = ring_frames(pool.get(), smallest);
  return smallest;
}

// Returns the port's MAC address; for net_ring and net_null, which have none, a locally
// administered one.
Mac Port::read_mac() const {
  rte_ether_addr address{};
  Mac mac{};
  if (rte_eth_macaddr_get(id(), &address) == 0) std::ranges::copy(address.addr_bytes, mac.begin());
  const auto last = static_cast<std::uint8_t>(1U + static_cast<unsigned>(options_.side));
  return mac == Mac{} ? Mac{0x02, 0x6e, 0x78, 0, 0, last} : mac;
}

// Reads the clock of the port's time stamps. Drivers offer a raw counter, or the PTP clock in
// nanoseconds.
std::optional<std::uint64_t> Port::read_clock() const {
  std::uint64_t shown = 0;
  if (rte_eth_read_clock(id(), &shown) == 0) return shown;
  timespec time{};
  if (rte_eth_timesync_read_time(id(), &time) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(time.tv_sec) * run::kNsPerSecond +
         static_cast<std::uint64_t>(time.tv_nsec);
}

PortClock::Read Port::clock_reader() const {
  if (!options_.own_clock) return {};
  if (options_.clock) return options_.clock;
  if (traits_.stamps == Stamps::kRealtime_us) {
    return [] {
      timespec time{};
      clock_gettime(CLOCK_REALTIME, &time);
      return std::optional(static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
                           static_cast<std::uint64_t>(time.tv_nsec) / 1000);
    };
  }
  if (!stamps_) return {};
  return [this] { return read_clock(); };
}

bool Port::link_up() const {
  rte_eth_link link{};
  return started_ &&
         (rte_eth_link_get_nowait(id(), &link) != 0 || link.link_status == RTE_ETH_LINK_UP);
}

void Port::watch_link() {
  const bool up = link_up();
  if (watched_up_ && !up) ++falls_seen_;
  watched_up_ = up;
}

void Port::reconnect() {
  if (!traits_.must_reconnect) return;
  if (started_) rte_eth_dev_stop(id());
  started_ = rte_eth_dev_start(id()) == 0;
}

spec::PortInfo Port::info() const {
  rte_eth_link link{};
  std::vector<std::string> offloads;
  if (flow_control_) offloads.emplace_back("flow_control");
  const bool known = traits_.has_link_speed && rte_eth_link_get_nowait(id(), &link) == 0 &&
                     link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN;
  return {.side = options_.side,
          .device = options_.device.text,
          .driver = driver_,
          .interface = options_.device.interface(),
          .mac = to_text(mac_),
          .mtu_bytes = options_.mtu_bytes,
          .link_speed_mbps = known ? link.link_speed : 0,
          .rx_ring_frames = rx_ring_frames_,
          .refusal = traits_.refusal,
          .offloads = std::move(offloads),
          .numa_node = rte_eth_dev_socket_id(id())};
}

spec::PortCounters Port::counters() {
  rte_eth_stats stats{};
  const int status = rte_eth_stats_get(id(), &stats);
  if (status != -ENOTSUP) check(status, "tell its counters");
  watch_link();
  if (const auto interface = interface_counters(options_.device.interface())) {
    kernel_rx_dropped_ += interface->rx_dropped - last_interface_.rx_dropped;
    kernel_rx_dropped_ += interface->rx_errors - last_interface_.rx_errors;
    last_interface_ = *interface;
  }
  return {.rx_missed = stats.imissed + device_.extended_counter(kDiscards),
          .rx_errors = stats.ierrors,
          .rx_no_buffer = stats.rx_nombuf,
          .tx_errors = stats.oerrors,
          .kernel_rx_dropped = kernel_rx_dropped_,
          .link_downs = link_falls_.total(link_downs(options_.device.interface()), falls_seen_)};
}

}  // namespace natxy::port
