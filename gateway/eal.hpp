// DPDK's environment of the program: one worker on the given CPU, the main thread on any CPU.
// Removes its files at the end.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "gateway/options.hpp"
#include "gateway/side.hpp"

namespace natxy::gateway {

struct EalError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Eal {
 public:
  static constexpr unsigned kWorker = 1;  // lcore of the worker

  explicit Eal(const Options& options);
  ~Eal();
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;

  // Creates a virtual device (PCI devices were probed at the start) and returns its port.
  [[nodiscard]] std::uint16_t probe(Side side, const std::string& device);
  [[nodiscard]] static std::string driver_of(std::uint16_t port_id);

 private:
  // Removes DPDK's folder, also if DPDK could not start.
  struct RuntimeFolder {
    ~RuntimeFolder();
  };
  RuntimeFolder folder_;
};

}  // namespace natxy::gateway
