#include "options.hpp"

#include "plumbing/options.hpp"
#include "record_writer.hpp"

namespace natxy {
namespace {

using plumbing::is_auto;
using plumbing::number;

constexpr std::size_t kMaxWorkers = 64;

void require(bool given, const char* what) {
  if (!given)
    throw UsageError(std::string(what) +
                     " is missing (expected natxy-engine --left DEVICE --right DEVICE --cores "
                     "LIST)");
}

void check(Options& options) {
  if (options.version) return;
  require(!options.left.empty(), "--left");
  require(!options.right.empty(), "--right");
  require(!options.cores.empty(), "--cores");
  if (options.cores.size() > kMaxWorkers) {
    throw UsageError("--cores: " + std::to_string(options.cores.size()) +
                     " CPUs are too many (expected at most " + std::to_string(kMaxWorkers) + ")");
  }
  if (options.records_fd && !is_writable(*options.records_fd)) {
    throw UsageError("--records-fd: " + std::to_string(*options.records_fd) +
                     " is not open for writing (expected the write end of an inherited pipe)");
  }
  if (options.main_cores.empty()) options.main_cores = plumbing::allowed_cpus();
}

}  // namespace

Options parse_options(int argc, char* const* argv) {
  Options options;
  using Text = const std::string&;
  plumbing::read_options(
      argc, argv,
      {{"left", [&](Text text) { options.left = text; }},
       {"right", [&](Text text) { options.right = text; }},
       {"cores", [&](Text text) { options.cores = plumbing::usable_cpus(text); }},
       {"main-cores", [&](Text text) { options.main_cores = plumbing::usable_cpus(text); }},
       // IPv6's minimum; 9216 with Ethernet's 18 octets
       {"mtu",
        [&](Text text) {
          options.mtu_bytes = static_cast<std::uint16_t>(number(text, 1280, 9198));
        }},
       {"huge-pages", [&](Text text) { options.huge_pages = is_auto(text, "never"); }},
       {"memory-mb", [&](Text text) { options.memory_mb = number(text, 64, 1U << 20U); }},
       {"tx-queues", [&](Text text) { options.tx_queues = number(text, 1, 64); }},
       {"rx-queues", [&](Text text) { options.rx_queues = number(text, 1, 16); }},
       {"arrival-clock", [&](Text text) { options.own_clocks = is_auto(text, "tsc"); }},
       {"records-fd",
        [&](Text text) { options.records_fd = static_cast<int>(number(text, 3, 65535)); }},
       {"version", [&](Text) { options.version = true; }, false}},
      {.option = "--left, --right, --cores, --main-cores, --mtu, --huge-pages, --memory-mb, "
                 "--tx-queues, --rx-queues, --arrival-clock, --records-fd or --version",
       .word = "--OPTION VALUE"});
  check(options);
  return options;
}

}  // namespace natxy
