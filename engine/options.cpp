#include "options.hpp"

#include <getopt.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "port/cpu_list.hpp"
#include "record_writer.hpp"

namespace natxy {
namespace {

constexpr std::array<option, 13> kOptions = {{{"left", required_argument, nullptr, 'l'},
                                              {"right", required_argument, nullptr, 'r'},
                                              {"cores", required_argument, nullptr, 'c'},
                                              {"main-cores", required_argument, nullptr, 'm'},
                                              {"mtu", required_argument, nullptr, 'u'},
                                              {"huge-pages", required_argument, nullptr, 'h'},
                                              {"memory-mb", required_argument, nullptr, 'b'},
                                              {"tx-queues", required_argument, nullptr, 't'},
                                              {"rx-queues", required_argument, nullptr, 'q'},
                                              {"arrival-clock", required_argument, nullptr, 'a'},
                                              {"records-fd", required_argument, nullptr, 'f'},
                                              {"version", no_argument, nullptr, 'v'},
                                              {nullptr, 0, nullptr, 0}}};

struct Range {
  const char* option;
  unsigned min;
  unsigned max;
};
constexpr Range kMtu{"--mtu", 1280, 9198};  // IPv6's minimum; 9216 with Ethernet's 18 octets
constexpr Range kMemory{"--memory-mb", 64, 1U << 20U};
constexpr Range kTxQueues{"--tx-queues", 1, 64};
constexpr Range kRxQueues{"--rx-queues", 1, 16};
constexpr Range kRecordsFd{"--records-fd", 3, 65535};
constexpr std::size_t kMaxWorkers = 64;

unsigned number(const std::string& text, const Range& range) {
  unsigned value = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && rest == end && value >= range.min && value <= range.max) return value;
  throw UsageError(std::string(range.option) + ": \"" + text + "\" is out of range (expected " +
                   std::to_string(range.min) + " to " + std::to_string(range.max) + ")");
}

bool huge_pages(const std::string& text) {
  if (text == "auto" || text == "never") return text == "auto";
  throw UsageError("--huge-pages: \"" + text + "\" is unknown (expected auto or never)");
}

bool own_clocks(const std::string& text) {
  if (text == "auto" || text == "tsc") return text == "auto";
  throw UsageError("--arrival-clock: \"" + text + "\" is unknown (expected auto or tsc)");
}

std::vector<int> cpus(const std::string& text, const char* name) {
  const auto allowed = port::allowed_cpus();
  try {
    const auto list = port::parse_cpu_list(text);
    for (const int cpu : list) {
      if (std::ranges::find(allowed, cpu) != allowed.end()) continue;
      throw UsageError(std::string(name) + ": this process may not use CPU " + std::to_string(cpu) +
                       " (expected one of the " + std::to_string(allowed.size()) +
                       " CPUs that it may use)");
    }
    return list;
  } catch (const std::invalid_argument& error) {
    throw UsageError(std::string(name) + ": " + error.what());
  }
}

void take(Options& options, int which, const std::string& value) {
  switch (which) {
    case 'l':
      options.left = value;
      break;
    case 'r':
      options.right = value;
      break;
    case 'c':
      options.cores = cpus(value, "--cores");
      break;
    case 'm':
      options.main_cores = cpus(value, "--main-cores");
      break;
    case 'u':
      options.mtu_bytes = static_cast<std::uint16_t>(number(value, kMtu));
      break;
    case 'h':
      options.huge_pages = huge_pages(value);
      break;
    case 'b':
      options.memory_mb = number(value, kMemory);
      break;
    case 't':
      options.tx_queues = number(value, kTxQueues);
      break;
    case 'q':
      options.rx_queues = number(value, kRxQueues);
      break;
    case 'a':
      options.own_clocks = own_clocks(value);
      break;
    case 'f':
      options.records_fd = static_cast<int>(number(value, kRecordsFd));
      break;
    case 'v':
      options.version = true;
      break;
    default:
      break;
  }
}

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
  if (options.main_cores.empty()) options.main_cores = port::allowed_cpus();
}

}  // namespace

Options parse_options(int argc, char* const* argv) {
  Options options;
  opterr = 0;  // getopt prints no messages of its own
  optind = 0;
  for (;;) {
    const int at = optind == 0 ? 1 : optind;
    const int which = getopt_long(argc, argv, "", kOptions.data(), nullptr);
    if (which == -1) break;
    if (which == '?') {
      throw UsageError(std::string(argv[at]) +
                       ": is an unknown option or has no value (expected --left, --right, --cores, "
                       "--main-cores, --mtu, --huge-pages, --memory-mb, --tx-queues, "
                       "--rx-queues, --arrival-clock, --records-fd or --version)");
    }
    take(options, which, optarg == nullptr ? "" : optarg);
  }
  if (optind < argc) {
    throw UsageError(std::string(argv[optind]) + ": is not an option (expected --OPTION VALUE)");
  }
  check(options);
  return options;
}

}  // namespace natxy
