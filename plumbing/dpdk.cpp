#include "plumbing/dpdk.hpp"

#include <rte_bus.h>
#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>
#include <rte_memzone.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string_view>

namespace natxy::plumbing {
namespace {

namespace fs = std::filesystem;

// Returns the free memory in huge pages of one size; pages: their folder, such as
// hugepages-2048kB.
std::size_t free_kb(const fs::path& pages) {
  std::size_t count = 0;
  std::ifstream(pages / "free_hugepages") >> count;
  const auto name = pages.filename().string();
  return count * std::stoul(name.substr(name.find('-') + 1));
}

std::string joined(const std::vector<int>& cpus) {
  std::string text;
  for (const int cpu : cpus) text += (text.empty() ? "" : ",") + std::to_string(cpu);
  return text;
}

// Returns the lcores, for example 0@(0,1),1@2,2@3: the main lcore on its CPUs, each worker on its
// own CPU.
std::string lcores(const EalOptions& options) {
  auto text = "0@(" + joined(options.main_cpus) + ")";
  for (std::size_t i = 0; i < options.worker_cpus.size(); ++i) {
    text += "," + std::to_string(i + 1) + "@" + std::to_string(options.worker_cpus[i]);
  }
  return text;
}

// Removes the folders of processes that were killed and had this prefix with their own number.
void sweep_up(const fs::path& folder_of_all, const std::string& own_prefix) {
  const auto name_end = own_prefix.find_last_not_of("0123456789") + 1;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_of_all, error)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with(own_prefix.substr(0, name_end)) || name.size() == name_end) continue;
    const auto process = name.substr(name_end);
    const bool is_number = process.find_first_not_of("0123456789") == std::string::npos;
    if (is_number && !fs::exists("/proc/" + process)) fs::remove_all(entry.path(), error);
  }
}

}  // namespace

bool enough_huge_pages(std::size_t memory_mb, const std::string& root) {
  std::error_code error;
  const fs::directory_iterator sizes(fs::path(root) / "kernel/mm/hugepages", error);
  if (error) return false;
  return std::ranges::any_of(
      sizes, [&](const auto& entry) { return free_kb(entry.path()) >= memory_mb * 1024; });
}

// For the sake of secondary processes, rte_dev_probe() refuses a device of 128 octets or more since
// DPDK 24.11.
int probe(const std::string& device) {
  rte_devargs parsed{};
  int status = rte_devargs_parse(&parsed, device.c_str());
  if (status == 0 && parsed.bus == nullptr) status = -ENODEV;
  if (status == 0) {
    const bool is_virtual = std::string_view(rte_bus_name(parsed.bus)) == "vdev";
    status = is_virtual ? rte_vdev_init(parsed.name, parsed.args) : rte_dev_probe(device.c_str());
  }
  rte_devargs_reset(&parsed);
  return status > 0 ? -ENOTSUP : status;  // no driver took it
}

std::vector<std::string> eal_arguments(const EalOptions& options, bool huge_pages) {
  std::vector<std::string> arguments{"natxy",          "--lcores=" + lcores(options),
                                     "--main-lcore=0", "--file-prefix=" + options.file_prefix,
                                     "--no-telemetry", "--log-level=warning"};
  if (options.pci_devices.empty()) arguments.emplace_back("--no-pci");
  for (const auto& device : options.pci_devices) arguments.push_back("--allow=" + device);
  if (huge_pages) {
    arguments.emplace_back("--in-memory");
  } else {
    arguments.insert(arguments.end(), {"--no-huge", "-m", std::to_string(options.memory_mb)});
  }
  return arguments;
}

Eal::Eal(const EalOptions& options)
    : huge_pages_(options.huge_pages_allowed && enough_huge_pages(options.memory_mb)) {
  auto arguments = eal_arguments(options, huge_pages_);
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (auto& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  rte_openlog_stream(stderr);
  const int started = rte_eal_init(static_cast<int>(arguments.size()), pointers.data());
  folder_.path = rte_eal_get_runtime_dir();
  if (started < 0) {
    throw EalError(std::string("DPDK does not start: ") + rte_strerror(rte_errno) +
                   "; its messages are on standard error");
  }
  sweep_up(fs::path(folder_.path).parent_path(), options.file_prefix);
}

Eal::~Eal() {
  for (std::uint16_t port_id = 0; port_id < RTE_MAX_ETHPORTS; ++port_id) {
    if (rte_eth_dev_is_valid_port(port_id) == 1) rte_eth_dev_close(port_id);
  }
  rte_eal_cleanup();
}

Eal::Folder::~Folder() {
  std::error_code ignored;  // with --in-memory, there may be nothing to remove
  if (!path.empty()) fs::remove_all(path, ignored);
}

namespace {

rte_intr_handle* handle_of(int event) {
  auto* handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
  if (handle == nullptr) throw std::bad_alloc();
  rte_intr_fd_set(handle, event);
  rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT);
  return handle;
}

}  // namespace

HeldInterrupts::HeldInterrupts() : event_(eventfd(0, EFD_CLOEXEC)), handle_(handle_of(event_)) {
  if (event_ < 0 || rte_intr_callback_register(handle_, wait, this) != 0) {
    throw std::runtime_error("DPDK's interrupt thread takes no further event (expected one)");
  }
  hold();
}

HeldInterrupts::~HeldInterrupts() {
  let_go();
  // It is refused while the thread still executes the callback.
  while (rte_intr_callback_unregister(handle_, wait, this) == -EAGAIN) usleep(10);
  rte_intr_instance_free(handle_);
  close(event_);
}

void HeldInterrupts::hold() {
  eventfd_write(event_, 1);
  waits_.acquire();
}

void HeldInterrupts::wait(void* held) {
  auto& self = *static_cast<HeldInterrupts*>(held);
  eventfd_t count = 0;
  eventfd_read(self.event_, &count);
  self.waits_.release();
  self.go_on_.acquire();
}

// Events that come together are handled in any order, so the thread is stopped twice: before it
// stops again, it has handled all events that were pending before the first time.
void HeldInterrupts::let_pass() {
  for (unsigned i = 0; i < 2; ++i) {
    let_go();
    hold();
  }
}

namespace {

// Prevents gaps between buffers, which DPDK would leave for page boundaries (not needed, because
// the kernel maps the memory) or to spread the buffers over memory channels.
constexpr unsigned kWithoutGaps = RTE_MEMPOOL_F_NO_IOVA_CONTIG | RTE_MEMPOOL_F_NO_SPREAD;

unsigned object_octets() {
  rte_mempool_objsz around{};
  rte_mempool_calc_obj_size(RTE_CACHE_LINE_SIZE, kWithoutGaps, &around);
  return static_cast<unsigned>(kUmemBufferOctets) - around.header_size - around.trailer_size;
}

rte_mempool* create_empty(const UmemOrder& order) {
  auto* pool = rte_mempool_create_empty(order.name.c_str(), order.frames, object_octets(),
                                        order.cache_frames, sizeof(rte_pktmbuf_pool_private),
                                        order.numa_node, kWithoutGaps);
  if (pool == nullptr) return nullptr;
  rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), nullptr);
  rte_pktmbuf_pool_init(pool, nullptr);  // derives the data room from the object size
  return pool;
}

void give_back(rte_mempool_memhdr* /*piece*/, void* zone) {
  rte_memzone_free(static_cast<const rte_memzone*>(zone));
}

// Allocates memory for all buffers. Returns false and sets rte_errno if this fails.
bool place(rte_mempool& pool, const UmemOrder& order) {
  const auto octets = order.frames * kUmemBufferOctets;
  const auto* zone = rte_memzone_reserve_aligned(order.name.c_str(), octets, order.numa_node, 0,
                                                 kUmemBufferOctets);
  if (zone == nullptr) return false;
  const int placed = rte_mempool_populate_iova(&pool, static_cast<char*>(zone->addr), RTE_BAD_IOVA,
                                               octets, give_back, const_cast<rte_memzone*>(zone));
  if (placed == static_cast<int>(order.frames)) return true;
  if (placed <= 0) rte_memzone_free(zone);
  rte_errno = placed < 0 ? -placed : ENOMEM;
  return false;
}

}  // namespace

rte_mempool* create_umem_pool(const UmemOrder& order) {
  auto* pool = create_empty(order);
  if (pool == nullptr) return nullptr;
  if (!place(*pool, order)) {
    const auto reason = rte_errno;
    rte_mempool_free(pool);
    rte_errno = reason;
    return nullptr;
  }
  rte_mempool_obj_iter(pool, rte_pktmbuf_init, nullptr);
  return pool;
}

}  // namespace natxy::plumbing
