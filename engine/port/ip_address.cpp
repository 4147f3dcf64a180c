#include "port/ip_address.hpp"

#include <arpa/inet.h>

#include <cstdio>
#include <stdexcept>

namespace natxy::port {

std::string to_text(const IpAddress& address) {
  const int family = address.version == spec::IpVersion::k4 ? AF_INET : AF_INET6;
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(family, address.octets.data(), text, sizeof text);
  return text;
}

std::string to_text(const Mac& mac) {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
                mac[4], mac[5]);
  return text;
}

IpAddress parse_address(const std::string& text) {
  IpAddress address;
  if (inet_pton(AF_INET, text.c_str(), address.octets.data()) == 1) return address;
  address.version = spec::IpVersion::k6;
  if (inet_pton(AF_INET6, text.c_str(), address.octets.data()) == 1) return address;
  throw std::invalid_argument("\"" + text + "\" is not an IP address");
}

}  // namespace natxy::port
