// The name of a port as the user writes it: a PCI address, a virtual device with its arguments, or
// `ring`.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace natxy::port {

struct DeviceString {
  std::string text;    // the whole text
  std::string name;    // net_af_xdp0; 0000:01:00.0; ring
  std::string driver;  // net_af_xdp; empty for a PCI device
  std::map<std::string, std::string> arguments;
  bool pci = false;

  [[nodiscard]] bool ring() const { return name == "ring"; }
  [[nodiscard]] bool memif_client() const;
  [[nodiscard]] std::optional<std::string> argument(const std::string& key) const;
  [[nodiscard]] unsigned long number(const std::string& key, unsigned long otherwise) const;
  // Returns the kernel's network interface behind the port; empty if there is none.
  [[nodiscard]] std::string interface() const;
};

// Parses the name of a port. Throws TrialError (device).
[[nodiscard]] DeviceString parse_device(const std::string& text);

}  // namespace natxy::port
