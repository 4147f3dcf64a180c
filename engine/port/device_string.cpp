#include "port/device_string.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "spec/event.hpp"

namespace natxy::port {
namespace {

bool all_hexadecimal(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

// Returns whether this is a PCI address: [domain:]bus:device.function.
bool is_pci(std::string_view name) {
  if (name.size() < 7) return false;
  const auto tail = name.substr(name.size() - 7);
  if (tail[2] != ':' || tail[5] != '.' || tail[6] < '0' || tail[6] > '7') return false;
  if (!all_hexadecimal(tail.substr(0, 2)) || !all_hexadecimal(tail.substr(3, 2))) return false;
  const auto domain = name.substr(0, name.size() - 7);
  return domain.empty() || (domain.size() >= 5 && domain.size() <= 9 && domain.back() == ':' &&
                            all_hexadecimal(domain.substr(0, domain.size() - 1)));
}

// Returns a PCI address as DPDK writes it: 0000:01:00.0, with at least four digits of the domain.
std::string pci_name(const std::string& name) {
  const auto tail = name.substr(name.size() - 7);
  auto domain = name.substr(0, name.size() - tail.size());
  domain.erase(0, std::min(domain.find_first_not_of('0'), domain.size()));
  if (domain.empty()) domain = ":";
  auto address = std::string(domain.size() < 5 ? 5 - domain.size() : 0, '0') + domain + tail;
  std::ranges::transform(address, address.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return address;
}

// Returns the driver of a virtual device: net_af_xdp for net_af_xdp0, and for eth_af_xdp0, an older
// name. Empty if the name is not that of a virtual device.
std::string driver_of(std::string_view name) {
  const auto end = name.find_last_not_of("0123456789");
  const auto driver = name.substr(0, end == std::string_view::npos ? 0 : end + 1);
  const bool prefixed = driver.starts_with("net_") || driver.starts_with("eth_");
  const bool plain = driver.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == driver.npos;
  if (!prefixed || !plain || driver.size() <= 4) return {};
  return "net_" + std::string(driver.substr(4));
}

[[noreturn]] void refuse_device(const std::string& text) {
  throw spec::TrialError(spec::ErrorKind::kDevice,
                         "the device \"" + text +
                             "\" is unknown (expected a PCI address such as 0000:01:00.0, a "
                             "virtual device such as net_af_xdp0,iface=eth1, or ring)");
}

}  // namespace

std::optional<std::string> DeviceString::argument(const std::string& key) const {
  const auto found = arguments.find(key);
  if (found == arguments.end()) return std::nullopt;
  return found->second;
}

unsigned long DeviceString::number(const std::string& key, unsigned long otherwise) const {
  const auto value = argument(key);
  if (!value || value->empty()) return otherwise;
  char* end = nullptr;
  const auto number = std::strtoul(value->c_str(), &end, 0);
  return *end == '\0' ? number : otherwise;  // the driver itself refuses a wrong number
}

std::string DeviceString::interface() const {
  if (driver != "net_af_xdp" && driver != "net_af_packet" && driver != "net_tap" &&
      driver != "net_pcap") {
    return {};
  }
  return argument("iface").value_or("");
}

bool DeviceString::memif_client() const {
  return driver == "net_memif" && argument("role").value_or("client") != "server";
}

DeviceString parse_device(const std::string& text) {
  std::istringstream stream(text);
  DeviceString device;
  device.text = text;
  std::getline(stream, device.name, ',');
  device.pci = is_pci(device.name);
  if (device.pci) device.name = pci_name(device.name);
  device.driver = device.pci ? "" : driver_of(device.name);
  if (device.ring()) device.driver = "net_ring";
  if (!device.pci && device.driver.empty()) refuse_device(text);
  for (std::string part; std::getline(stream, part, ',');) {
    const auto equals = part.find('=');
    const auto value = equals == std::string::npos ? "" : part.substr(equals + 1);
    device.arguments[part.substr(0, equals)] = value;
  }
  return device;
}

}  // namespace natxy::port
