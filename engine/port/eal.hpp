// Starts DPDK for the engine (see plumbing/eal.hpp).
#pragma once

#include <string>
#include <vector>

#include "plumbing/eal.hpp"

namespace natxy::port {

struct EalOptions {
  std::string file_prefix;               // unique to this process, such as natxy-4711
  std::vector<int> worker_cpus;          // one worker lcore each, numbered from 1
  std::vector<int> main_cpus;            // the CPUs that the main lcore may use
  std::vector<std::string> pci_devices;  // with their arguments
  bool huge_pages_allowed = true;
  unsigned memory_mb = 512;
};

class Eal {
 public:
  // Throws TrialError (device).
  explicit Eal(const EalOptions& options);

  [[nodiscard]] bool huge_pages() const { return huge_pages_; }

 private:
  bool huge_pages_;
  plumbing::Eal eal_;
};

// Returns the arguments for rte_eal_init().
[[nodiscard]] std::vector<std::string> eal_arguments(const EalOptions& options, bool huge_pages);

}  // namespace natxy::port
