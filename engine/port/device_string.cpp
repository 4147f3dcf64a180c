#include "port/device_string.hpp"

#include <regex>
#include <sstream>

#include "spec/event.hpp"

namespace natxy::port {
namespace {

const std::regex kPci("([0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\\.[0-7]");
const std::regex kVirtual("((net|eth)_[a-z_]+)[0-9]*");

[[noreturn]] void refuse(const std::string& text) {
  throw spec::TrialError(spec::ErrorKind::kDevice,
                         "the device \"" + text +
                             "\" is not known, a PCI address such as 0000:01:00.0, a virtual "
                             "device such as net_af_xdp0,iface=eth1, or ring is right");
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
  return *end == '\0' ? number : otherwise;  // the driver itself complains of a wrong one
}

std::string DeviceString::interface() const {
  if (driver != "net_af_xdp" && driver != "net_af_packet" && driver != "eth_af_packet" &&
      driver != "net_tap" && driver != "net_pcap") {
    return {};
  }
  return argument("iface").value_or("");
}

DeviceString parse_device(const std::string& text) {
  std::istringstream stream(text);
  DeviceString device;
  device.text = text;
  std::getline(stream, device.name, ',');
  std::smatch match;
  device.pci = std::regex_match(device.name, kPci);
  if (!device.pci && !device.ring()) {
    if (!std::regex_match(device.name, match, kVirtual)) refuse(text);
    device.driver = match[1];
  }
  if (device.ring()) device.driver = "net_ring";
  for (std::string part; std::getline(stream, part, ',');) {
    const auto equals = part.find('=');
    const auto value = equals == std::string::npos ? "" : part.substr(equals + 1);
    device.arguments[part.substr(0, equals)] = value;
  }
  return device;
}

}  // namespace natxy::port
