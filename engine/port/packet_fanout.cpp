// Takes the reassembly of fragments away from net_af_packet.
//
// The driver puts its socket into a fanout group with PACKET_FANOUT_FLAG_DEFRAG, though a port here
// has one queue: the kernel then hands it an IPv4 datagram whole that a gateway had cut up, and the
// gateway's fault is not seen. No device argument switches that off, and a socket leaves its group
// only when it is closed. So this program has a `setsockopt` of its own, which DPDK's libraries
// find before the C library's, and which drops that one flag (decision 0019).
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace {

constexpr int kFlagsFrom = 16;  // bit of a fanout's argument: above its group

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
