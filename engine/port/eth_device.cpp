#include "port/eth_device.hpp"

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

#include <atomic>
#include <utility>
#include <vector>

#include "plumbing/dpdk.hpp"
#include "spec/event.hpp"

namespace natxy::port {
namespace {

std::string unique(const char* name) {
  static std::atomic<unsigned> number{0};
  return std::string(name) + std::to_string(number++);
}

[[noreturn]] void refuse(const std::string& sentence) {
  throw spec::TrialError(spec::ErrorKind::kDevice, sentence);
}

std::uint16_t port_of(const DeviceString& device) {
  std::uint16_t id = 0;
  if (rte_eth_dev_get_port_by_name(device.name.c_str(), &id) == 0) return id;
  refuse("DPDK finds no Ethernet device " + device.name +
         (device.pci ? " (expected one that is bound to vfio-pci, with all devices of its IOMMU "
                       "group, or to a bifurcated driver; natxy doctor examines it)"
                     : " (expected a device that DPDK has a driver for)"));
}

}  // namespace

bool flow_control_stays(const FlowControl& get, const FlowControl& set) {
  rte_eth_fc_conf configuration{};
  const auto is_on = [&] {
    return get(configuration) == 0 && configuration.mode != RTE_ETH_FC_NONE;
  };
  if (!is_on()) return false;
  configuration.mode = RTE_ETH_FC_NONE;
  configuration.autoneg = 0;
  return set(configuration) != 0 || is_on();
}

bool EthDevice::end_flow_control() const {
  return !flow_control_stays(
      [this](rte_eth_fc_conf& is) { return rte_eth_dev_flow_ctrl_get(id_, &is); },
      [this](rte_eth_fc_conf& to) { return rte_eth_dev_flow_ctrl_set(id_, &to); });
}

std::uint64_t EthDevice::extended_counter(const char* name) const {
  std::uint64_t number = 0;
  std::uint64_t counted = 0;
  if (rte_eth_xstats_get_id_by_name(id_, name, &number) != 0) return 0;
  if (rte_eth_xstats_get_by_id(id_, &number, &counted, 1) == 1) return counted;
  refuse(std::string("its counter ") + name + " cannot be read");
}

EthDevice EthDevice::probe(const DeviceString& device) {
  if (device.pci) return {port_of(device), ""};  // DPDK probed it at its start
  std::uint16_t id = 0;
  if (rte_eth_dev_get_port_by_name(device.name.c_str(), &id) == 0) {
    refuse("both ports have the name " + device.name + " (expected two names, such as " +
           device.driver + "0 and " + device.driver + "1)");
  }
  const int status = plumbing::probe(device.text);
  if (status != 0) {
    throw spec::TrialError(
        spec::ErrorKind::kDriver,
        "the device \"" + device.text + "\" cannot be created (" + rte_strerror(-status) + ")");
  }
  return {port_of(device), device.name};
}

EthDevice EthDevice::over_rings(std::vector<rte_ring*> rx, const std::vector<rte_ring*>& tx,
                                unsigned tx_queues) {
  std::vector<rte_ring*> ends;
  for (unsigned queue = 0; queue < tx_queues; ++queue) ends.push_back(tx[queue % tx.size()]);
  const int id = rte_eth_from_rings(unique("natxy").c_str(), rx.data(),
                                    static_cast<unsigned>(rx.size()), ends.data(), tx_queues, 0);
  if (id < 0) refuse(std::string("no port over rings: ") + rte_strerror(rte_errno));
  return {static_cast<std::uint16_t>(id), ""};
}

EthDevice::EthDevice(EthDevice&& other) noexcept
    : id_(std::exchange(other.id_, kNone)), made_(std::move(other.made_)) {}

EthDevice::~EthDevice() {
  if (id_ == kNone) return;
  rte_eth_dev_stop(id_);
  rte_eth_dev_close(id_);
  if (!made_.empty()) rte_eal_hotplug_remove("vdev", made_.c_str());
}

// Frees the ring but not the frames in it: they belong to a pool, which may be freed already.
void RingDeleter::operator()(rte_ring* ring) const {
  rte_ring_free(ring);
}

Ring make_ring(unsigned frames, Producers producers) {
  const unsigned flags = RING_F_SC_DEQ | (producers == Producers::kOne ? RING_F_SP_ENQ : 0U);
  Ring ring(rte_ring_create(unique("natxy_ring").c_str(), frames, SOCKET_ID_ANY, flags));
  if (!ring) refuse(std::string("no memory for a ring: ") + rte_strerror(rte_errno));
  return ring;
}

}  // namespace natxy::port
