// Starts DPDK for tests: without huge pages and PCI, with two worker lcores on CPUs that this
// process may use.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "port/cpu_list.hpp"
#include "port/eal.hpp"

namespace natxy::tests {

inline std::vector<int> worker_cpus() {
  const auto allowed = port::allowed_cpus();
  return {allowed.front(), allowed.back()};
}

class PortEnvironment : public testing::Environment {
 public:
  void SetUp() override {
    eal_ = std::make_unique<port::Eal>(
        port::EalOptions{.file_prefix = "natxy-test-" + std::to_string(getpid()),
                         .worker_cpus = worker_cpus(),
                         .main_cpus = port::allowed_cpus(),
                         .pci_devices = {},
                         .huge_pages_allowed = false,
                         .memory_mb = 512});
  }
  void TearDown() override { eal_.reset(); }

 private:
  std::unique_ptr<port::Eal> eal_;
};

}  // namespace natxy::tests
