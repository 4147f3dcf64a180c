// Keeps the tester's addresses alive on one port: answers ARP requests and Neighbour Solicitations.
// Stepped by the worker that owns the port's transmit queue 0; between trials by the main thread.
#pragma once

#include <cstdint>
#include <span>

#include "port/address_set.hpp"
#include "port/neighbour_message.hpp"
#include "port/port.hpp"
#include "port/resolution.hpp"

namespace natxy::port {

class NeighbourTask {
 public:
  explicit NeighbourTask(Port& port) : port_(&port) {}

  // The addresses to answer for; between trials.
  void set_own(AddressSet own) { own_ = std::move(own); }

  // Answers what receivers deferred: a look at an empty ring, nearly always.
  void step(std::uint64_t now);

  // Between trials, where no receiver polls: takes what has arrived, answers, and gives answers to
  // a resolution (null: none is under way).
  void poll(Resolution* resolution);

  void send(const NeighbourFrame& frame);

 private:
  void take(std::span<const std::uint8_t> frame, Resolution* resolution);

  Port* port_;
  AddressSet own_;
};

}  // namespace natxy::port
