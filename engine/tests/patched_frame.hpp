// A frame as a sender makes it.
#pragma once

#include <cstdint>
#include <vector>

#include "flow/flow.hpp"
#include "frame/departure.hpp"

namespace natxy::frame {

// Returns frame number * 977, with the values of ordinal `number`, late by number * 31 ticks.
template <flow::Shape kShape>
void patch(const Departure& departure, const flow::Flow& flow, std::vector<std::uint8_t>& octets,
           std::uint64_t number) {
  flow::ValueLot values;
  flow.fill<kShape>(&number, 1, values);
  const auto stamped = number * 977;
  const auto lateness = static_cast<std::uint32_t>(number * 31);
  StampLot stamps;
  stamps.fill(tag_of(1), StreamId(0), &stamped, &lateness, 1);
  auto* frame = octets.data();
  departure.patch<kShape>(&frame, 1, values, stamps);
}

}  // namespace natxy::frame
