#include "port/eal.hpp"

#include "spec/event.hpp"

namespace natxy::port {
namespace {

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

}  // namespace

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

Eal::Eal(const EalOptions& options) try
    : huge_pages_(options.huge_pages_allowed && plumbing::enough_huge_pages(options.memory_mb)),
      eal_(eal_arguments(options, huge_pages_)) {
} catch (const plumbing::EalError& error) {
  throw spec::TrialError(spec::ErrorKind::kDevice, error.what());
}

}  // namespace natxy::port
