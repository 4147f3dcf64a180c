// Reads requests from standard input and answers them, until the end of input, the request `quit`,
// or a signal.
#pragma once

#include <functional>
#include <string>

#include "plumbing/event_writer.hpp"

namespace natxy::gateway {

// Blocks SIGINT and SIGTERM, also in threads that are started later, and returns a descriptor to
// poll for them.
[[nodiscard]] int open_signals();

// Returns the answer to a request; empty after the last request.
using Answerer = std::function<std::string(const std::string& line)>;

void run_requests(int signals, plumbing::EventWriter& events, const Answerer& answer);

}  // namespace natxy::gateway
