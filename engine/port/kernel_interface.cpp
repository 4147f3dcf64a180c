#include "port/kernel_interface.hpp"

#include <ifaddrs.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
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

namespace {

struct LinkRequest {
  nlmsghdr header{};
  ifinfomsg link{};
};

class NetlinkSocket {
 public:
  NetlinkSocket() : handle_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {
    // The kernel answers during the send call. The timeout prevents a hang if it does not.
    const timeval patience{.tv_sec = 0, .tv_usec = 100'000};
    if (handle_ >= 0) setsockopt(handle_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~NetlinkSocket() {
    if (handle_ >= 0) close(handle_);
  }
  NetlinkSocket(const NetlinkSocket&) = delete;
  NetlinkSocket& operator=(const NetlinkSocket&) = delete;

  [[nodiscard]] bool ask(unsigned index) const {
    LinkRequest request;
    request.header = {.nlmsg_len = sizeof request,
                      .nlmsg_type = RTM_GETLINK,
                      .nlmsg_flags = NLM_F_REQUEST,
                      .nlmsg_seq = 1,
                      .nlmsg_pid = 0};
    request.link.ifi_family = AF_UNSPEC;
    request.link.ifi_index = static_cast<int>(index);
    return handle_ >= 0 && send(handle_, &request, sizeof request, 0) == sizeof request;
  }
  [[nodiscard]] ssize_t read(void* buffer, std::size_t size) const {
    return recv(handle_, buffer, size, 0);
  }

 private:
  int handle_;
};

std::optional<std::uint32_t> downs_of(const nlmsghdr* message) {
  if (message->nlmsg_type != RTM_NEWLINK) return std::nullopt;
  const auto* link = static_cast<const ifinfomsg*>(NLMSG_DATA(message));
  auto left = IFLA_PAYLOAD(message);
  for (const auto* each = IFLA_RTA(link); RTA_OK(each, left); each = RTA_NEXT(each, left)) {
    if (each->rta_type != IFLA_CARRIER_DOWN_COUNT) continue;
    std::uint32_t count = 0;
    std::memcpy(&count, RTA_DATA(each), sizeof count);
    return count;
  }
  return std::nullopt;
}

}  // namespace

// Uses netlink, because /sys may show the interfaces of another namespace.
std::optional<std::uint32_t> link_downs(const std::string& name) {
  const auto index = name.empty() ? 0 : if_nametoindex(name.c_str());
  const NetlinkSocket netlink;
  if (index == 0 || !netlink.ask(index)) return std::nullopt;
  alignas(nlmsghdr) std::array<char, 32768> answer;
  const auto size = netlink.read(answer.data(), answer.size());
  const auto* message = reinterpret_cast<const nlmsghdr*>(answer.data());
  if (size < 0 || !NLMSG_OK(message, static_cast<std::size_t>(size))) return std::nullopt;
  return downs_of(message);
}

}  // namespace natxy::port
