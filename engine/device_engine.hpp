// The engine over DPDK ports, on the time stamp counter: what the program runs, and what the tests
// of time run. Its loops take a minute to compile, so they have a file of their own.
#pragma once

#include "port/device.hpp"
#include "request_loop.hpp"
#include "run/frame_record.hpp"

namespace natxy {

// Makes the engine that the request loop drives. records: null if nobody reads records. One runner
// serves all trials, so that the memory of its state table is reused.
[[nodiscard]] Engine engine_over(port::Device& device, run::RecordRings* records);

}  // namespace natxy
