// DPDK's environment abstraction layer: started once per process; removes its files at the end.
#pragma once

#include <string>
#include <vector>

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
  // Starts DPDK. Throws TrialError (device).
  explicit Eal(const EalOptions& options);
  ~Eal();
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;

  [[nodiscard]] bool huge_pages() const { return huge_pages_; }

 private:
  bool huge_pages_;
  std::string runtime_directory_;
};

// Returns whether the free huge pages of one size hold this much memory. root: /sys, except in
// tests.
[[nodiscard]] bool enough_huge_pages(unsigned memory_mb, const std::string& root = "/sys");

// Returns the arguments for rte_eal_init().
[[nodiscard]] std::vector<std::string> eal_arguments(const EalOptions& options, bool huge_pages);

}  // namespace natxy::port
