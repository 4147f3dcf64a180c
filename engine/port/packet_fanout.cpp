// Switches off the reassembly of fragments in net_af_packet.
//
// The driver puts its socket into a fanout group with PACKET_FANOUT_FLAG_DEFRAG, although a port
// has one queue here. The kernel then reassembles IPv4 datagrams that a gateway has fragmented,
// which hides the gateway's fault. No device argument switches this off, and a socket leaves its
// group only when it is closed. So this program has its own `setsockopt`, which DPDK's libraries
// find before that of the C library, and which removes this flag (docs/decisions/0019).
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace {

constexpr int kFlagsFrom = 16;  // first bit of the flags in a fanout's argument

bool asks_for_fanout(int level, int option, const void* value, socklen_t size) {
  return level == SOL_PACKET && option == PACKET_FANOUT && value != nullptr && size >= sizeof(int);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int setsockopt(int socket, int level, int option,
                                                                 const void* value,
                                                                 socklen_t size) noexcept {
  if (!asks_for_fanout(level, option, value, size)) {
    return static_cast<int>(syscall(SYS_setsockopt, socket, level, option, value, size));
  }
  unsigned fanout = 0;
  std::memcpy(&fanout, value, sizeof fanout);
  fanout &= ~(unsigned{PACKET_FANOUT_FLAG_DEFRAG} << kFlagsFrom);
  return static_cast<int>(syscall(SYS_setsockopt, socket, level, option, &fanout, sizeof fanout));
}
