#include "gateway/eal.hpp"

#include <rte_ethdev.h>
#include <rte_pci.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <vector>

namespace natxy::gateway {
namespace {

namespace fs = std::filesystem;

std::string name_of_device(const std::string& device) {
  return device.substr(0, device.find(','));
}

bool is_pci(const std::string& device) {
  rte_pci_addr address{};
  return rte_pci_addr_parse(name_of_device(device).c_str(), &address) == 0;
}

// Returns the CPUs that this process may use, for example "0,1,4". Throws if `core` is not among
// them.
std::string allowed_cpus(unsigned core) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) throw EalError("the CPUs are not known");
  std::string list;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) list += (list.empty() ? "" : ",") + std::to_string(cpu);
  }
  if (core >= CPU_SETSIZE || !CPU_ISSET(core, &allowed)) {
    throw EalError("--core: CPU " + std::to_string(core) +
                   " cannot be used by this process (expected one of " + list + ")");
  }
  return list;
}

std::vector<std::string> arguments(const Options& options, const std::string& prefix) {
  std::vector<std::string> words{"natxy-gateway",
                                 "--no-telemetry",
                                 "--file-prefix=" + prefix,
                                 "--log-level=lib.*:warning",
                                 "--log-level=pmd.*:warning",
                                 "-m" + std::to_string(options.memory_mb)};
  words.push_back("--lcores=0@(" + allowed_cpus(options.core) + "),1@(" +
                  std::to_string(options.core) + ")");
  const bool is_huge = options.may_use_huge_pages && plumbing::enough_huge_pages(options.memory_mb);
  words.emplace_back(is_huge ? "--in-memory" : "--no-huge");
  bool has_pci = false;
  for (const auto& device : {options.left, options.right}) {
    if (!is_pci(device)) continue;
    words.push_back("-a" + device);
    has_pci = true;
  }
  if (!has_pci) words.emplace_back("--no-pci");
  return words;
}

constexpr std::string_view kPrefix = "natxy-gateway-";

// Removes the folders of gateways that were killed.
void sweep_up(const fs::path& folder_of_all) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_of_all, error)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    const auto process = name.substr(kPrefix.size());
    const bool is_number = process.find_first_not_of("0123456789") == std::string::npos;
    if (is_number && !fs::exists("/proc/" + process)) fs::remove_all(entry.path(), error);
  }
}

}  // namespace

Eal::Eal(const Options& options)
    : eal_(arguments(options, std::string(kPrefix) + std::to_string(getpid()))) {
  sweep_up(fs::path(eal_.folder()).parent_path());
}

Eal::~Eal() {
  for (std::uint16_t port_id = 0; port_id < RTE_MAX_ETHPORTS; ++port_id) {
    if (rte_eth_dev_is_valid_port(port_id) == 1) rte_eth_dev_close(port_id);
  }
}

std::uint16_t Eal::probe(Side side, const std::string& device) {
  std::uint16_t port_id = 0;
  const auto name = name_of_device(device);
  if (!is_pci(device) && plumbing::probe(device) != 0) {
    throw EalError("--" + std::string(name_of(side)) + ": DPDK cannot create \"" + device +
                   "\" (expected a PCI address, or a virtual device such as "
                   "net_af_packet0,iface=d0)");
  }
  if (rte_eth_dev_get_port_by_name(name.c_str(), &port_id) == 0) return port_id;
  throw EalError("--" + std::string(name_of(side)) + ": \"" + device +
                 "\" has no port (expected a device that DPDK has a driver for)");
}

std::string Eal::driver_of(std::uint16_t port_id) {
  rte_eth_dev_info info{};
  if (rte_eth_dev_info_get(port_id, &info) != 0 || info.driver_name == nullptr) return "";
  return info.driver_name;
}

}  // namespace natxy::gateway
