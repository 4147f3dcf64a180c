#include "gateway/options.hpp"

#include <getopt.h>

#include <charconv>
#include <string_view>

#include "gateway/frame_store.hpp"

namespace natxy::gateway {
namespace {

struct Range {
  std::size_t min;
  std::size_t max;
};

std::size_t number(std::string_view option, std::string_view text, Range range) {
  std::size_t value = 0;
  const auto* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  const bool is_right = error == std::errc{} && end == last;
  if (is_right && value >= range.min && value <= range.max) return value;
  throw OptionsError(std::string(option) + ": \"" + std::string(text) +
                     "\" is out of range (expected a whole number from " +
                     std::to_string(range.min) + " to " + std::to_string(range.max) + ")");
}

bool read_huge_pages(std::string_view text) {
  if (text == "auto") return true;
  if (text == "never") return false;
  throw OptionsError("--huge-pages: \"" + std::string(text) +
                     "\" is unknown (expected auto or never)");
}

// Returns the name of a device: a PCI address, or a driver and a number. Arguments follow a comma.
std::string name_of(const std::string& device) {
  return device.substr(0, device.find(','));
}

void check(const Options& options, bool has_core) {
  if (options.left.empty() || options.right.empty()) {
    throw OptionsError(
        "--left, --right: a device is missing (expected a device such as net_af_packet0,iface=d0)");
  }
  if (name_of(options.left) == name_of(options.right)) {
    throw OptionsError("--left, --right: both name the same device (expected two devices)");
  }
  if (!has_core) throw OptionsError("--core: is missing (expected the number of a CPU)");
}

constexpr option kLong[] = {{"left", required_argument, nullptr, 'l'},
                            {"right", required_argument, nullptr, 'r'},
                            {"core", required_argument, nullptr, 'c'},
                            {"huge-pages", required_argument, nullptr, 'p'},
                            {"memory-mb", required_argument, nullptr, 'm'},
                            {"mtu", required_argument, nullptr, 'u'},
                            {"version", no_argument, nullptr, 'v'},
                            {"help", no_argument, nullptr, 'h'},
                            {nullptr, 0, nullptr, 0}};

void read(Options& options, int letter, const char* text) {
  switch (letter) {
    case 'l':
      options.left = text;
      break;
    case 'r':
      options.right = text;
      break;
    case 'c':
      options.core = static_cast<unsigned>(number("--core", text, {0, 1023}));
      break;
    case 'p':
      options.may_use_huge_pages = read_huge_pages(text);
      break;
    case 'm':
      options.memory_mb = number("--memory-mb", text, {64, 1U << 20U});
      break;
    case 'u':
      options.mtu_bytes = number("--mtu", text, {68, FrameStore::kMaxOctets - 64});
      break;
    case 'v':
      options.shows_version = true;
      break;
    default:
      options.shows_help = true;
      break;
  }
}

}  // namespace

const char* usage() {
  return "natxy-gateway --left DEVICE --right DEVICE --core CPU [--huge-pages auto|never] "
         "[--memory-mb N] [--mtu BYTES] [--version]";
}

Options parse_options(int count, char** words) {
  Options options;
  bool has_core = false;
  opterr = 0;
  for (int letter = 0; (letter = getopt_long(count, words, "", kLong, nullptr)) != -1;) {
    if (letter == '?') {
      throw OptionsError(std::string(words[optind - 1]) +
                         ": is an unknown option or has no value (expected " + usage() + ")");
    }
    has_core |= letter == 'c';
    read(options, letter, optarg);
  }
  if (optind < count) {
    throw OptionsError(std::string(words[optind]) + ": is not an option (expected " + usage() +
                       ")");
  }
  if (!options.shows_version && !options.shows_help) check(options, has_core);
  return options;
}

}  // namespace natxy::gateway
