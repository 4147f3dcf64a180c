// Sums up how a gateway has given out its external addresses and ports: how evenly, and in blocks
// of ports or not (RFC 6888, RFC 7422).
#pragma once

#include "flow/flow.hpp"
#include "run/state_table.hpp"
#include "spec/trial_result.hpp"

namespace natxy::run {

// stored: the number of connections in the table. flow: that of the stream that made them, whose
// sources are the inside hosts. Needs 12 octets for each connection, and a second for some million.
[[nodiscard]] spec::Mappings mappings_of(const StateTable& table, std::uint64_t stored,
                                         const flow::Flow& flow);

}  // namespace natxy::run
