// Starts DPDK for tests: without huge pages and PCI, with two worker lcores on CPUs that this
// process may use.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "plumbing/dpdk.hpp"
#include "plumbing/options.hpp"

namespace natxy::tests {

inline std::vector<int> worker_cpus() {
  const auto allowed = plumbing::allowed_cpus();
  return {allowed.front(), allowed.back()};
}

class PortEnvironment : public testing::Environment {
 public:
  void SetUp() override {
    eal_ = std::make_unique<plumbing::Eal>(
        plumbing::EalOptions{.file_prefix = "natxy-test-" + std::to_string(getpid()),
                             .worker_cpus = worker_cpus(),
                             .main_cpus = plumbing::allowed_cpus(),
                             .pci_devices = {},
                             .huge_pages_allowed = false,
                             .memory_mb = 512});
  }
  void TearDown() override { eal_.reset(); }

 private:
  std::unique_ptr<plumbing::Eal> eal_;
};

}  // namespace natxy::tests
