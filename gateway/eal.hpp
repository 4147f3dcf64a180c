// DPDK's environment for the program: one worker on the CPU that was named, the main thread
// anywhere, and nothing left behind.
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
  static constexpr unsigned kWorker = 1;  // lcore

  explicit Eal(const Options& options);
  ~Eal();
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;

  // Makes the device (a PCI device has been made at the start) and finds its port.
  [[nodiscard]] std::uint16_t probe(Side side, const std::string& device);
  [[nodiscard]] static std::string driver_of(std::uint16_t port_id);

 private:
  // DPDK leaves its folder behind; also where it could not start.
  struct RuntimeFolder {
    ~RuntimeFolder();
  };
  RuntimeFolder folder_;
};

}  // namespace natxy::gateway
