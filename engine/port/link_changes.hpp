// How often the link of the kernel's network interface behind a port has gone down.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace natxy::port {

// Since the interface was made, in this process's network namespace; absent: there is no such
// interface, or its kernel does not tell.
[[nodiscard]] std::optional<std::uint32_t> link_downs(const std::string& name);

}  // namespace natxy::port
