// Starts DPDK for whole trials in one process: without huge pages and PCI, with four worker lcores
// for the engine and one for the gateway, on the CPUs that this process may use.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "plumbing/dpdk.hpp"
#include "plumbing/options.hpp"

namespace natxy::tests {

inline constexpr unsigned kGatewayLcore = 5;

// The engine's workers use all but the last CPU in turn; the gateway's lcore is on the last one.
inline std::vector<int> ring_worker_cpus(unsigned workers) {
  const auto allowed = plumbing::allowed_cpus();
  std::vector<int> cpus;
  for (unsigned i = 0; i < workers; ++i) cpus.push_back(allowed[i % allowed.size()]);
  return cpus;
}

class RingEnvironment : public testing::Environment {
 public:
  void SetUp() override {
    auto cpus = ring_worker_cpus(kGatewayLcore - 1);
    cpus.push_back(plumbing::allowed_cpus().back());
    eal_ = std::make_unique<plumbing::Eal>(
        plumbing::EalOptions{.file_prefix = "natxy-truth-" + std::to_string(getpid()),
                             .worker_cpus = cpus,
                             .main_cpus = plumbing::allowed_cpus(),
                             .pci_devices = {},
                             .huge_pages_allowed = false,
                             .memory_mb = 1024});
  }
  void TearDown() override { eal_.reset(); }

 private:
  std::unique_ptr<plumbing::Eal> eal_;
};

}  // namespace natxy::tests
