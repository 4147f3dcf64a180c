#include "plumbing/eal.hpp"

#include <rte_bus.h>
#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
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

Eal::Eal(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (auto& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  rte_openlog_stream(stderr);
  const int started = rte_eal_init(static_cast<int>(arguments.size()), pointers.data());
  folder_.path = rte_eal_get_runtime_dir();
  if (started >= 0) return;
  throw EalError(std::string("DPDK does not start: ") + rte_strerror(rte_errno) +
                 "; its messages are on standard error");
}

Eal::~Eal() {
  rte_eal_cleanup();
}

Eal::Folder::~Folder() {
  std::error_code ignored;  // with --in-memory, there may be nothing to remove
  if (!path.empty()) fs::remove_all(path, ignored);
}

}  // namespace natxy::plumbing
