#include "port/kernel_interface.hpp"

#include <ifaddrs.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <memory>

namespace natxy::port {

// Uses netlink, because /sys may show the interfaces of another namespace.
std::optional<InterfaceCounters> interface_counters(const std::string& name) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return std::nullopt;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
  for (const auto* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_PACKET) continue;
    if (name != entry->ifa_name || entry->ifa_data == nullptr) continue;
    rtnl_link_stats stats;
    std::memcpy(&stats, entry->ifa_data, sizeof stats);
    return InterfaceCounters{.rx_dropped = stats.rx_dropped, .rx_errors = stats.rx_errors};
  }
  return std::nullopt;
}

std::optional<unsigned> interface_mtu_bytes(const std::string& name) {
  ifreq request{};
  if (name.empty() || name.size() >= sizeof request.ifr_name) return std::nullopt;
  name.copy(request.ifr_name, name.size());
  const int handle = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool known = handle >= 0 && ioctl(handle, SIOCGIFMTU, &request) == 0;
  if (handle >= 0) close(handle);
  if (!known) return std::nullopt;
  return static_cast<unsigned>(request.ifr_mtu);
}

}  // namespace natxy::port
