#include "gateway/eal.hpp"

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_log.h>
#include <rte_pci.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
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

std::size_t free_mb(const fs::path& pages) {
  std::size_t count = 0;
  std::ifstream(pages / "free_hugepages") >> count;
  const auto name = pages.filename().string();  // hugepages-2048kB
  return count * std::stoul(name.substr(name.find('-') + 1)) / 1024;
}

bool has_huge_pages(std::size_t memory_mb) {
  std::error_code error;
  const fs::directory_iterator sizes("/sys/kernel/mm/hugepages", error);
  if (error) return false;
  return std::ranges::any_of(sizes, [&](const auto& entry) { return free_mb(entry) >= memory_mb; });
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
  const bool is_huge = options.may_use_huge_pages && has_huge_pages(options.memory_mb);
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

void start(std::vector<std::string> words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size());
  for (auto& word : words) pointers.push_back(word.data());
  rte_openlog_stream(stderr);
  if (rte_eal_init(static_cast<int>(pointers.size()), pointers.data()) >= 0) return;
  throw EalError(std::string("DPDK does not start: ") + rte_strerror(rte_errno) +
                 "; its messages are on standard error");
}

}  // namespace

Eal::Eal(const Options& options) {
  start(arguments(options, std::string(kPrefix) + std::to_string(getpid())));
  sweep_up(fs::path(rte_eal_get_runtime_dir()).parent_path());
}

Eal::~Eal() {
  for (std::uint16_t port_id = 0; port_id < RTE_MAX_ETHPORTS; ++port_id) {
    if (rte_eth_dev_is_valid_port(port_id) == 1) rte_eth_dev_close(port_id);
  }
  rte_eal_cleanup();
}

Eal::RuntimeFolder::~RuntimeFolder() {
  const std::string path = rte_eal_get_runtime_dir();
  std::error_code ignored;  // nothing can be done about an error here
  if (!path.empty()) fs::remove_all(path, ignored);
}

std::uint16_t Eal::probe(Side side, const std::string& device) {
  std::uint16_t port_id = 0;
  const auto name = name_of_device(device);
  if (!is_pci(device) && rte_dev_probe(device.c_str()) != 0) {
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
