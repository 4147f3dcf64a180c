// Starts DPDK for the gateway: one worker on the given CPU, the main thread on any CPU.
#pragma once

#include <cstdint>
#include <string>

#include "gateway/frame.hpp"
#include "gateway/options.hpp"
#include "plumbing/eal.hpp"

namespace natxy::gateway {

using plumbing::EalError;

class Eal {
 public:
  static constexpr unsigned kWorker = 1;  // lcore of the worker

  // Throws EalError, as do the other functions.
  explicit Eal(const Options& options);
  ~Eal();
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;

  // Creates a virtual device (PCI devices were probed at the start) and returns its port.
  [[nodiscard]] std::uint16_t probe(Side side, const std::string& device);
  [[nodiscard]] static std::string driver_of(std::uint16_t port_id);

 private:
  plumbing::Eal eal_;
};

}  // namespace natxy::gateway
