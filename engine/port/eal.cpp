#include "port/eal.hpp"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "spec/event.hpp"

namespace natxy::port {
namespace {

namespace fs = std::filesystem;

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

unsigned long number_in(const fs::path& file) {
  std::ifstream stream(file);
  unsigned long number = 0;
  stream >> number;
  return number;
}

}  // namespace

bool enough_huge_pages(unsigned memory_mb, const std::string& root) {
  for (const unsigned long page_kb : {1'048'576UL, 2'048UL}) {
    const auto directory =
        fs::path(root) / "kernel/mm/hugepages" / ("hugepages-" + std::to_string(page_kb) + "kB");
    if (number_in(directory / "free_hugepages") * page_kb >= memory_mb * 1024UL) return true;
  }
  return false;
}

std::vector<std::string> eal_arguments(const EalOptions& options, bool huge_pages) {
  std::vector<std::string> arguments{"natxy-engine",   "--lcores=" + lcores(options),
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
  rte_openlog_stream(stderr);
  auto arguments = eal_arguments(options, huge_pages_);
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (auto& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  if (rte_eal_init(static_cast<int>(arguments.size()), pointers.data()) < 0) {
    throw spec::TrialError(spec::ErrorKind::kDevice, std::string("DPDK does not start: ") +
                                                         rte_strerror(rte_errno) +
                                                         "; its messages are on standard error");
  }
  runtime_directory_ = rte_eal_get_runtime_dir();
}

Eal::~Eal() {
  rte_eal_cleanup();
  std::error_code ignored;  // with --in-memory, there may be nothing to remove
  fs::remove_all(runtime_directory_, ignored);
}

}  // namespace natxy::port
