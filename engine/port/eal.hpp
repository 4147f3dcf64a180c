// DPDK's environment: started once a process, gone without a trace at its end.
#pragma once

#include <string>
#include <vector>

namespace natxy::port {

struct EalOptions {
  std::string file_prefix;               // of this process alone, such as natxy-4711
  std::vector<int> worker_cpus;          // one worker lcore each, numbered from 1
  std::vector<int> main_cpus;            // the main lcore floats over these
  std::vector<std::string> pci_devices;  // with their arguments
  bool huge_pages_allowed = true;
  unsigned memory_mb = 512;
};

class Eal {
 public:
  // Throws TrialError (device).
  explicit Eal(const EalOptions& options);
  ~Eal();
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;

  [[nodiscard]] bool huge_pages() const { return huge_pages_; }

 private:
  bool huge_pages_;
  std::string runtime_directory_;
};

// Whether free huge pages of one size hold that much; `root` is /sys but for tests.
[[nodiscard]] bool enough_huge_pages(unsigned memory_mb, const std::string& root = "/sys");

// The arguments that rte_eal_init gets.
[[nodiscard]] std::vector<std::string> eal_arguments(const EalOptions& options, bool huge_pages);

}  // namespace natxy::port
