// What a person wrote to name a port: a PCI address, a virtual device with its arguments, or
// `ring`.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace natxy::port {

struct DeviceString {
  std::string text;    // all of it
  std::string name;    // net_af_xdp0; 0000:01:00.0; ring
  std::string driver;  // net_af_xdp; of a PCI device only its driver knows
  std::map<std::string, std::string> arguments;
  bool pci = false;

  [[nodiscard]] bool ring() const { return name == "ring"; }
  [[nodiscard]] bool memif_client() const;
  [[nodiscard]] std::optional<std::string> argument(const std::string& key) const;
  [[nodiscard]] unsigned long number(const std::string& key, unsigned long otherwise) const;
  // The kernel's network interface behind the port; empty: none.
  [[nodiscard]] std::string interface() const;
};

// Throws TrialError (device).
[[nodiscard]] DeviceString parse_device(const std::string& text);

}  // namespace natxy::port
