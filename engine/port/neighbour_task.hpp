// The neighbour responder of one port: answers ARP requests and Neighbour Solicitations. The worker
// that owns the port's transmit queue 0 runs it; between trials, the main thread does.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "port/ip_address.hpp"
#include "port/neighbour_message.hpp"
#include "port/port.hpp"
#include "port/resolution.hpp"

namespace natxy::port {

class NeighbourTask {
 public:
  explicit NeighbourTask(Port& port) : port_(&port) {}

  // Sets the addresses to answer for. Called between trials.
  void set_own(AddressSet own) { own_ = std::move(own); }
  // Sets the VLAN tags of the messages, outer tag first. Called between trials.
  void set_vlans(std::vector<spec::VlanTag> vlans) { vlans_ = std::move(vlans); }

  // Answers the messages that receivers deferred. Nearly always, there are none.
  void step(std::uint64_t now);

  // Receives what has arrived, answers questions, and passes answers to `resolution` (null: there
  // is none). Called between trials, when no receiver polls.
  void poll(Resolution* resolution);

  // Adds the VLAN tags.
  void send(const NeighbourFrame& untagged);

 private:
  void poll(RxQueue& queue, Resolution* resolution);
  void take(std::span<const std::uint8_t> frame, Resolution* resolution);

  Port* port_;
  AddressSet own_;
  std::vector<spec::VlanTag> vlans_;
};

}  // namespace natxy::port
