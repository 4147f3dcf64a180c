#include "gateway/options.hpp"

#include "gateway/frame.hpp"
#include "plumbing/options.hpp"

namespace natxy::gateway {
namespace {

using plumbing::UsageError;

unsigned number(const std::string& text, unsigned min, unsigned max) {
  return static_cast<unsigned>(plumbing::number(text, min, max, "a whole number from "));
}

// Returns the name of a device: a PCI address, or a driver and a number. Arguments follow a comma.
std::string name_of(const std::string& device) {
  return device.substr(0, device.find(','));
}

void check(const Options& options, bool has_core) {
  if (options.left.empty() || options.right.empty()) {
    throw UsageError(
        "--left, --right: a device is missing (expected a device such as net_af_packet0,iface=d0)");
  }
  if (name_of(options.left) == name_of(options.right)) {
    throw UsageError("--left, --right: both name the same device (expected two devices)");
  }
  if (!has_core) throw UsageError("--core: is missing (expected the number of a CPU)");
}

}  // namespace

const char* usage() {
  return "natxy-gateway --left DEVICE --right DEVICE --core CPU [--huge-pages auto|never] "
         "[--memory-mb N] [--mtu BYTES] [--version]";
}

Options parse_options(int count, char* const* words) {
  Options options;
  bool has_core = false;
  using Text = const std::string&;
  plumbing::read_options(
      count, words,
      {{"left", [&](Text text) { options.left = text; }},
       {"right", [&](Text text) { options.right = text; }},
       {"core",
        [&](Text text) {
          options.core = number(text, 0, 1023);
          has_core = true;
        }},
       {"huge-pages",
        [&](Text text) { options.may_use_huge_pages = plumbing::is_auto(text, "never"); }},
       {"memory-mb", [&](Text text) { options.memory_mb = number(text, 64, 1U << 20U); }},
       {"mtu",
        [&](Text text) { options.mtu_bytes = number(text, 68, FrameStore::kMaxOctets - 64); }},
       {"version", [&](Text) { options.shows_version = true; }, false},
       {"help", [&](Text) { options.shows_help = true; }, false}},
      {.option = usage(), .word = usage()});
  if (!options.shows_version && !options.shows_help) check(options, has_core);
  return options;
}

}  // namespace natxy::gateway
